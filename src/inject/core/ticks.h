/* SPDX-License-Identifier: Apache-2.0
 * The clock of the spool: the time stamp counter where it runs evenly on all cores, else
 * CLOCK_MONOTONIC. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

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
