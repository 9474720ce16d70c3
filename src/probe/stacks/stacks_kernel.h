/* SPDX-License-Identifier: Apache-2.0
 * The kernel types stacks.bpf.c touches, and of them only the fields it reads: the loader finds the
 * real places from the running kernel's BTF. */
#pragma once

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct mm_struct {
  unsigned long start_stack;
};

struct thread_struct {
  unsigned long fsbase;
};

struct task_struct {
  unsigned int flags;
  int pid;
  int tgid;
  unsigned int in_execve : 1;
  struct mm_struct* mm;
  struct thread_struct thread;
};

#pragma clang attribute pop
