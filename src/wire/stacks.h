/* SPDX-License-Identifier: Apache-2.0
 * What the BPF half of the stacks probe tells its user half: one record per sample. Plain C for
 * both. */
#pragma once

#include <stdint.h>

enum {
  kWireKernelFrames = 127,
  kWireMostStackBytes = 262144,
  kWireMostCpus = 1024,
  kWireMostSamplers = 8, /* at once: an event at a rate each; a power of two */
};

enum WireSampleFlags {
  kWireHasUser = 1,  /* registers and the stack copy are there */
  kWireNoMemory = 2, /* the copy ends early: that part of the stack is not in memory */
  kWireIs32Bit = 4,  /* a 32-bit program: no copy was made */
};

/* As struct pt_regs of x86-64 lies in memory. */
struct WireRegisters {
  uint64_t r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags,
      sp, ss;
};

struct WireSample {
  uint64_t time_ns; /* CLOCK_MONOTONIC */
  uint64_t period;  /* what the sample stands for, in the event's unit */
  uint32_t pid;
  uint32_t tid;
  uint32_t cpu;
  uint32_t sampler; /* which of them it is of, from 0 */
  uint32_t flags;
  uint32_t kernel_frames;
  uint64_t stack_bytes; /* copied, from the stack pointer up */
  struct WireRegisters registers;
  uint64_t kernel[kWireKernelFrames]; /* innermost first */
  /* then stack_bytes of stack */
};
