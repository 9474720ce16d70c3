/* SPDX-License-Identifier: Apache-2.0
 * sys_loop CALLS ROUNDS [THREADS]: what a system call costs. Each thread reads 1 byte CALLS times,
 * ROUNDS times over, and the program prints "read NS": the least CPU time a call took on average in
 * a round of the slowest thread. For bench/io and tests of many calls a second. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kMostThreads = 64 };

static long calls, rounds;
static double least[kMostThreads];

static double cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void* run(void* argument) {
  double* best = argument;
  char byte;
  const int fd = open("/dev/zero", O_RDONLY);
  if (fd < 0) exit(1);
  *best = 1e18;
  for (long round = 0; round < rounds; ++round) {
    const double from = cpu_ns();
    for (long i = 0; i < calls; ++i)
      if (read(fd, &byte, 1) != 1) exit(1);
    const double took = (cpu_ns() - from) / (double)calls;
    if (took < *best) *best = took;
  }
  close(fd);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  calls = atol(argv[1]);
  rounds = atol(argv[2]);
  const int count = argc > 3 ? atoi(argv[3]) : 1;
  if (count < 1 || count > kMostThreads) return 2;
  pthread_t threads[kMostThreads];
  for (int i = 0; i < count; ++i)
    if (pthread_create(&threads[i], NULL, run, &least[i]) != 0) return 1;
  double slowest = 0;
  for (int i = 0; i < count; ++i) {
    pthread_join(threads[i], NULL);
    if (least[i] > slowest) slowest = least[i];
  }
  printf("read %.2f\n", slowest);
  return 0;
}
