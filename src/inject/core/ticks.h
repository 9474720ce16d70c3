/* SPDX-License-Identifier: Apache-2.0
 * The clock of the spool: the time stamp counter where it runs evenly on all cores, else
 * CLOCK_MONOTONIC. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "inject/core/raw.h"

/* The kernel's own function, which needs no system call; NULL: not found yet, or none. The C
 * library's may be a sanitizer's by that name, which is not ready when we start. */
typedef int ClockFunction(clockid_t clock, struct timespec* now);
extern ClockFunction* fathom_vdso_clock __attribute__((visibility("hidden")));

static inline uint64_t clock_ns(clockid_t clock) {
  struct timespec now = {0};
  if (fathom_vdso_clock != NULL)
    fathom_vdso_clock(clock, &now);
  else
    raw_call(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static inline uint64_t monotonic_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
static inline bool tsc_is_even(void) {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}
static inline uint64_t read_tsc(void) { return __rdtsc(); }
#else
static inline bool tsc_is_even(void) { return false; }
static inline uint64_t read_tsc(void) { return 0; }
#endif
