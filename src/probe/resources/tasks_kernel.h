/* SPDX-License-Identifier: Apache-2.0
 * The kernel types tasks.bpf.c touches, and of them only the fields it reads: the loader finds the
 * real places from the running kernel's BTF. A name with ___ is the same type as an older kernel
 * has it. */
#pragma once

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct percpu_counter {
  __s64 count;
  __s32* counters;
};

struct mm_struct {
  unsigned long hiwater_rss;
  unsigned long arg_start;
  unsigned long arg_end;
  struct percpu_counter rss_stat[4];
};

struct mm_rss_stat___before_6_2 {
  struct {
    long counter;
  } count[4];
};
struct mm_struct___before_6_2 {
  struct mm_rss_stat___before_6_2 rss_stat;
};

struct signal_struct {
  struct {
    int counter;
  } live;
  int group_exit_code;
  unsigned int flags;
  unsigned long maxrss;
};

struct sched_entity {
  __u64 sum_exec_runtime;
};

struct sched_info {
  unsigned long long run_delay;
};

struct task_io_accounting {
  __u64 rchar;
  __u64 wchar;
  __u64 read_bytes;
  __u64 write_bytes;
};

struct ns_common {
  unsigned int inum;
};
struct pid_namespace {
  struct ns_common ns;
};
struct upid {
  int nr;
  struct pid_namespace* ns;
};
struct pid {
  unsigned int level;
  struct upid numbers[1];
};

struct task_struct {
  unsigned int __state;
  unsigned int flags;
  struct sched_entity se;
  struct sched_info sched_info;
  struct mm_struct* mm;
  int exit_code;
  int pid;
  int tgid;
  struct task_struct* real_parent;
  struct task_struct* group_leader;
  struct pid* thread_pid;
  __u64 utime;
  __u64 stime;
  unsigned long nvcsw;
  unsigned long nivcsw;
  unsigned long min_flt;
  unsigned long maj_flt;
  char comm[16];
  struct signal_struct* signal;
  struct task_io_accounting ioac;
};

struct task_struct___before_5_14 {
  long state;
};

struct linux_binprm {
  const char* filename;
};

struct bpf_array {
  void* pptrs[1];
};

#pragma clang attribute pop
