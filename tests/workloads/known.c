/* SPDX-License-Identifier: Apache-2.0
 * known FOLDER: a program whose every figure is known beforehand. Prints nothing, exits with 7.
 *   memory   123 MiB mapped and touched once by the first process, plus what a small C program
 * needs writes   47 MiB in odd sizes: 36 by the first process, 1, 3 and 7 by its children, each
 * file synced tasks    3 children named known-child-1..3 that exit with 11, 12, 13, and 5 threads
 * named known-thread
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1024L * 1024L)
#define ODD 40961

static char block[ODD];

/* Exactly `bytes`, in writes of ODD bytes and a shorter last one. */
static void write_file(const char* folder, const char* name, long bytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  const int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
  if (fd < 0) _exit(99);
  for (long left = bytes; left > 0;) {
    const long part = left < ODD ? left : ODD;
    if (write(fd, block, (size_t)part) != part) _exit(98);
    left -= part;
  }
  if (fsync(fd) != 0) _exit(97);
  close(fd);
}

static void child(const char* folder, int number) {
  static const long sizes[] = {1, 3, 7};
  char name[16];
  snprintf(name, sizeof name, "known-child-%d", number);
  prctl(PR_SET_NAME, name);
  write_file(folder, name, sizes[number - 1] * MIB);
  _exit(10 + number);
}

static void* thread_main(void* barrier) {
  prctl(PR_SET_NAME, "known-thread");
  pthread_barrier_wait(barrier); /* all five live at once */
  return NULL;
}

static void run_threads(void) {
  pthread_barrier_t barrier;
  pthread_t threads[5];
  pthread_barrier_init(&barrier, NULL, 6);
  for (int i = 0; i < 5; ++i) {
    if (pthread_create(&threads[i], NULL, thread_main, &barrier) != 0) _exit(96);
  }
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 5; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char** argv) {
  if (argc != 2) return 95;
  memset(block, 'k', sizeof block);
  for (int number = 1; number <= 3; ++number) {
    const pid_t pid = fork();
    if (pid < 0) return 94;
    if (pid == 0) child(argv[1], number);
    int status;
    if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 10 + number) return 93;
  }
  run_threads();
  char* memory = mmap(NULL, 123 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 92;
  memset(memory, 1, 123 * MIB);
  write_file(argv[1], "known-main", 36 * MIB);
  return 7;
}
