/* SPDX-License-Identifier: Apache-2.0
 * The loaded stacks.bpf.c, for bpf_samples.cpp: its skeleton is C. One owner, one thread. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct StackPrograms {
  void* skeleton; /* owns all below */
  int rings_fd;
  int tree_adopted_fd; /* processes of the tree that were there before, by pid */
  int program_fd;
  int fork_program_fd;
  const volatile uint64_t* dropped;
  const volatile uint64_t* not_followed;
  const volatile uint64_t* owed; /* by CPU and sampler, kWireMostSamplers of each */
};

/* 0, or an errno, and then there is nothing to close. With tree_capacity, which is the largest
 * number of adopted processes, only samples of the tree are taken. */
int load_stack_programs(struct StackPrograms* programs, uint64_t wake_bytes,
                        uint32_t tree_capacity);
/* Follows forks from now on. 0, or an errno. */
int follow_stack_tree(struct StackPrograms* programs);
void close_stack_programs(struct StackPrograms* programs);

#ifdef __cplusplus
}
#endif
