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
  int program_fd;
  const volatile uint64_t* dropped;
  const volatile uint64_t* owed; /* by CPU and sampler, kWireMostSamplers of each */
};

/* 0, or an errno, and then there is nothing to close. */
int load_stack_programs(struct StackPrograms* programs, uint64_t wake_bytes);
void close_stack_programs(struct StackPrograms* programs);

#ifdef __cplusplus
}
#endif
