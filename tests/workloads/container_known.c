// SPDX-License-Identifier: Apache-2.0
// container_known FILE [MILLISECONDS]: known amounts, for a container with limits. Touches 123 MiB,
// writes 47 MiB to the file, and burns CPU time until it has used so much of it, or two seconds.
// Prints how much it used, without what the container's runtime used in this process before.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long cpu_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char** argv) {
  enum { kMiB = 1 << 20 };
  const long long before_ns = cpu_ns();
  char* memory = malloc(123 * kMiB);
  if (argc < 2 || !memory) return 2;
  memset(memory, 1, 123 * kMiB);
  const int file = open(argv[1], O_CREAT | O_TRUNC | O_WRONLY, 0644);
  for (int i = 0; i < 47; ++i)
    if (write(file, memory, kMiB) != kMiB) return 3;
  if (fsync(file) != 0) return 4;
  close(file);
  unlink(argv[1]);
  const long long wanted_ns = (argc > 2 ? atoll(argv[2]) : 2000) * 1000000;
  volatile unsigned burnt = 0;
  while (cpu_ns() - before_ns < wanted_ns)
    for (int i = 0; i < 100000; ++i) burnt += (unsigned)memory[i];
  printf("%lld\n", cpu_ns() - before_ns);
  return 0;
}
