/* SPDX-License-Identifier: Apache-2.0
 * What the BPF half of the task watcher tells its user half: one record per fork, exec, rename and
 * exit. Plain C for both. A record starts with WireTask; WireFork, WireExec, with text, and
 * WireExit say more. */
#pragma once

#include <stdint.h>

enum {
  kWireTaskNameBytes = 16,
  kWireExeBytes = 1024, /* power of two, and so is the next: the BPF half masks lengths with them */
  kWireArgsBytes = 4096,
  kWireTaskRingBytes = 1 << 20,
};

/* Who is followed: tasks with a mark; processes in the map of the adopted as well; everybody but
 * the kernel's own threads. Whoever a followed task starts is, too. */
enum WireWhom { kWireMarked = 0, kWireAdopted = 1, kWireEverybody = 2 };

enum { kWireMostAdopted = 1 << 16 };

enum WireTaskKind { kWireFork = 1, kWireExec = 2, kWireRename = 3, kWireExit = 4 };

struct WireTask {
  uint64_t time_ns; /* CLOCK_MONOTONIC */
  uint32_t kind;
  int32_t pid;
  int32_t tid;
  int32_t other; /* fork: parent's pid, of a thread its own; exec: tid before; exit: code as wait(2)
                    reports it */
  char name[kWireTaskNameBytes];
};

/* What the new task is called in the innermost namespace it is in. */
struct WireFork {
  struct WireTask task;
  uint64_t pid_namespace; /* its inode */
  int32_t inner_pid, inner_tid;
};

/* Followed by exe_bytes of path and args_bytes of arguments, as the kernel has them. */
struct WireExec {
  struct WireTask task;
  uint32_t exe_bytes; /* with its NUL */
  uint32_t args_bytes;
};

struct WireExit {
  struct WireTask task;
  uint64_t run_ns;
  uint64_t user_ticks_ns; /* by the tick: only the ratio of the two is used */
  uint64_t system_ticks_ns;
  uint64_t wait_ns;
  uint64_t minor_faults;
  uint64_t major_faults;
  uint64_t voluntary_switches;
  uint64_t involuntary_switches;
  uint64_t read_chars;
  uint64_t written_chars;
  uint64_t disk_read_bytes;
  uint64_t disk_written_bytes;
  uint64_t peak_rss_bytes; /* 0: not the last thread of its process */
  uint32_t ends_process;
  uint32_t reserved;
};

/* A mark on each task of the tree, kept by the kernel with the task; all 0 as it is set, but that
 * of the root, which waits for its exec. */
struct WireFollowed {
  uint64_t wait_ns; /* for a core: what the root had before its exec; once it has ended, what it
                       waited in its life */
  uint64_t exit_ns; /* 0: lives */
  uint64_t peak_rss_bytes;
  int32_t exit_code;
  uint32_t ends_process;
  uint32_t awaits_exec;
  uint32_t reserved;
};

/* Where the BPF half puts an exec together; one on each CPU. */
struct WireExecScratch {
  struct WireExec head;
  char text[kWireExeBytes + kWireArgsBytes];
};

/* The BPF half's own counts, mapped into the recorder. */
struct WireTaskCounts {
  uint64_t dropped;
  uint64_t exits_begun;
  uint64_t exits_told;
};
