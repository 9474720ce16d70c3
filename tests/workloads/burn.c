/* SPDX-License-Identifier: Apache-2.0
 * burn MILLISECONDS: spends that much CPU time in user mode and prints what getrusage(2) says it
 * spent, in nanoseconds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static int64_t cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(int argc, char** argv) {
  const int64_t wanted_ns = (argc > 1 ? atoll(argv[1]) : 2000) * 1000000;
  volatile uint64_t state = 1;
  while (cpu_ns() < wanted_ns) {
    for (int i = 0; i < 1000000; ++i) state = state * 6364136223846793005u + 1442695040888963407u;
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const int64_t us = (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                     usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
  printf("%lld\n", (long long)us * 1000);
  return 0;
}
