/* SPDX-License-Identifier: Apache-2.0
 * spin N: N rounds of integer work on one core, then the CPU and wall time it took, in nanoseconds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t clock_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 1000;
  const int64_t start = clock_of(CLOCK_MONOTONIC);
  uint64_t value = 88172645463325252ULL;
  for (long i = 0; i < rounds; ++i) {
    for (int j = 0; j < 100000; ++j) {
      value ^= value << 13;
      value ^= value >> 7;
      value ^= value << 17;
    }
  }
  printf("%lld %lld %llu\n", (long long)clock_of(CLOCK_PROCESS_CPUTIME_ID),
         (long long)(clock_of(CLOCK_MONOTONIC) - start), (unsigned long long)value);
  return 0;
}
