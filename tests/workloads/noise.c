/* SPDX-License-Identifier: Apache-2.0
 * noise COUNT: starts itself that many times with 3,000 random letters as its argument, one after
 * the other, so that a recording of it grows and does not compress. */
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char** environ;

int main(int argc, char** argv) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
  static char text[3001];
  uint64_t state = 88172645463325252u;
  if (argc != 2) return 0;
  char* child[] = {argv[0], text, "x", NULL};
  for (long left = atol(argv[1]); left > 0; --left) {
    for (size_t i = 0; i < sizeof text - 1; ++i) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      text[i] = letters[state % 64];
    }
    pid_t pid;
    if (posix_spawn(&pid, argv[0], NULL, NULL, child, environ) != 0 || waitpid(pid, NULL, 0) != pid)
      return 3;
  }
  return 0;
}
