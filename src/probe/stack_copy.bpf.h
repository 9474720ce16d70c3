/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * How much of a user stack there is, and its copy. For programs whose task_struct has mm and
 * thread. */
#pragma once

enum {
  kUser32Code = 0x23,
  kHalvings = 7,
};
/* Further up than this is another stack or none of ours. */
#define FARTHEST (1UL << 30)
/* Where the end is not known: fibres, other C libraries. */
#define UNKNOWN_END_BYTES (64UL << 10)
#define ROOT_FRAME_BYTES 64

static __always_inline uint64_t stack_length(struct task_struct* task, uint64_t sp, uint64_t most) {
  const uint64_t main_end = BPF_CORE_READ(task, mm, start_stack) + ROOT_FRAME_BYTES;
  const uint64_t thread_end = BPF_CORE_READ(task, thread.fsbase);
  /* The nearer one: without address randomization thread stacks lie close below the main one. */
  uint64_t length = FARTHEST;
  if (main_end > sp && main_end - sp < length) length = main_end - sp;
  if (thread_end > sp && thread_end - sp < length) length = thread_end - sp;
  if (length == FARTHEST) length = UNKNOWN_END_BYTES;
  return length > most ? most : length;
}

/* In one piece, or the longest half, quarter, … of it that is in memory. */
static __always_inline void copy_stack(struct WireSample* sample, uint64_t sp, uint64_t length,
                                       const uint32_t room) {
  for (uint32_t i = 0; i < kHalvings; ++i) {
    const uint64_t bytes = length >> i;
    if (bytes == 0 || bytes > room) break;
    if (bpf_probe_read_user(sample + 1, bytes, (const void*)sp) == 0) {
      sample->stack_bytes = bytes;
      return;
    }
    sample->flags |= kWireNoMemory;
  }
}
