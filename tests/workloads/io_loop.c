/* SPDX-License-Identifier: Apache-2.0
 * io_loop CALLS ROUNDS: what a libc call costs. Makes CALLS calls of each kind ROUNDS times and
 * prints "NAME NS" with the least CPU time a call took on average in a round. For bench/io. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int fd;
static FILE* stream;

static void call_fputc(void) { fputc('x', stream); }
static void call_lseek(void) { lseek(fd, 0, SEEK_CUR); }
static void call_write(void) {
  if (write(fd, "x", 1) != 1) _exit(1);
}
static void call_fwrite(void) { fwrite("0123456789abcdef", 16, 1, stream); }

static double cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void measure(const char* name, void (*call)(void), long calls, long rounds) {
  double least = 1e18;
  for (long round = 0; round < rounds; ++round) {
    const double from = cpu_ns();
    for (long i = 0; i < calls; ++i) call();
    const double took = (cpu_ns() - from) / (double)calls;
    if (took < least) least = took;
  }
  printf("%s %.2f\n", name, least);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long calls = atol(argv[1]), rounds = atol(argv[2]);
  fd = open("/dev/null", O_WRONLY);
  stream = fopen("/dev/null", "w");
  if (fd < 0 || stream == NULL) return 1;
  measure("fputc", call_fputc, calls, rounds);
  measure("fwrite", call_fwrite, calls, rounds);
  measure("lseek", call_lseek, calls, rounds);
  measure("write", call_write, calls, rounds);
  return 0;
}
