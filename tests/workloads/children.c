/* SPDX-License-Identifier: Apache-2.0
 * children COUNT PROGRAM [ARGS]: starts the program that many times, one after the other, and waits
 * for each. */
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char** environ;

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  for (long left = atol(argv[1]); left > 0; --left) {
    pid_t pid;
    int status;
    if (posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ) != 0) return 3;
    if (waitpid(pid, &status, 0) != pid || status != 0) return 4;
  }
  return 0;
}
