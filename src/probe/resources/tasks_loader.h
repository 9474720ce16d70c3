/* SPDX-License-Identifier: Apache-2.0
 * The loaded tasks.bpf.c, for bpf_tasks.cpp: its skeleton is C. One owner, one thread. */
#pragma once

#include <stdint.h>

#include "wire/tasks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { kTaskProgramCount = 5 };

struct TaskPrograms {
  void* skeleton; /* owns all below */
  int followed_fd;
  int adopted_fd;
  int events_fd;
  int program_fds[kTaskProgramCount];
  const volatile struct WireTaskCounts* counts;
};

/* 0, or an errno, and then there is nothing to close. Not yet attached. */
int load_task_programs(struct TaskPrograms* programs, uint32_t cpu_count, uint32_t page_bytes,
                       enum WireWhom whom);
int attach_task_programs(struct TaskPrograms* programs);
void close_task_programs(struct TaskPrograms* programs);

#ifdef __cplusplus
}
#endif
