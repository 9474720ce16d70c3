/* SPDX-License-Identifier: Apache-2.0
 * Prints CLOCK_MONOTONIC in nanoseconds as its first act: when did a target start to run? */
#include <stdio.h>
#include <time.h>

int main(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  printf("%lld%09ld\n", (long long)time.tv_sec, time.tv_nsec);
  return 0;
}
