/* SPDX-License-Identifier: Apache-2.0
 * rusage_of FILE COMMAND...: runs the command and writes to FILE what it used with all it waited
 * for: nanoseconds of wall time, of user and of system CPU time. Exits with its status. */
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long ns(struct timeval time) {
  return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL;
}

int main(int count, char** args) {
  if (count < 3) return 125;
  const long long start = now_ns();
  pid_t child;
  if (posix_spawnp(&child, args[2], NULL, NULL, args + 2, environ) != 0) return 127;
  int status;
  struct rusage used;
  if (wait4(child, &status, 0, &used) != child) return 125;
  const long long wall = now_ns() - start;
  FILE* file = fopen(args[1], "w");
  if (file == NULL) return 125;
  fprintf(file, "%lld %lld %lld\n", wall, ns(used.ru_utime), ns(used.ru_stime));
  fclose(file);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
