/* SPDX-License-Identifier: Apache-2.0
 * io_known [THREADS]: 3 forked children with 5 threads each, or as many as told, and every thread
 * does in the current folder what the numbers below say. tests/e2e/lib/io_known.py has the table of
 * them by function and file. Calls that fail are among them: no such file, no such descriptor.
 * Prints one line a child: a sum over what every call returned and left in errno, so that any
 * difference in behaviour shows. The line itself goes round the C library. Exits with 7.
 *
 * Of thread T of child C, on the files known-C-T, sent-C-T and text-C-T:
 *   open 1 known, 1 sent, 3 missing      write 23 x 4099, 5 x no descriptor
 *   lseek 7, 1 x no descriptor           read 19 x 4099, 1 x 1000 before the end, 1 x 0 at the end,
 *                                        3 x no descriptor
 *   pread 11 x 1021                      pwrite 3 x 77
 *   readv 9 x (101 + 203 + 307)          writev 3 x (11 + 13)
 *   fsync 3, 1 x no descriptor           dup 5, read 1 x 13 through each
 *   stat 13 known, 3 missing             mmap 3 and munmap 3, 1 mmap of no descriptor
 *   sendfile 7 x 2053 known to sent      close of all, 1 x no descriptor
 *   fopen 2 text, 1 missing; fwrite 17 x 3 x 37; fprintf 29 x 21; fread 15 x 101; fclose 2 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kChildren = 3, kMostThreads = 512, kUnusualErrno = 77 };

struct Thread {
  pthread_t thread;
  int child, number;
  uint64_t sum;
  char block[4099], known[64], sent[64], text[64], missing[64];
};
static struct Thread threads[kMostThreads];

static void add(struct Thread* self, long result) {
  self->sum = (self->sum ^ (uint64_t)result) * 0x100000001b3u;
  self->sum = (self->sum ^ (uint64_t)errno) * 0x100000001b3u;
}

/* A call `count` times; what it did goes into the sum. */
#define DO(count, ...)                        \
  for (int i_ = 0; i_ < (count); ++i_) {      \
    errno = kUnusualErrno; /* must be kept */ \
    add(self, (long)(__VA_ARGS__));           \
  }

static void write_and_read(struct Thread* self, int fd) {
  DO(23, write(fd, self->block, 4099));
  DO(5, write(-1, self->block, 4099));
  DO(1, lseek(fd, 0, SEEK_SET));
  DO(19, read(fd, self->block, 4099));
  DO(1, lseek(fd, -1000, SEEK_END));
  DO(1, read(fd, self->block, 4099));
  DO(1, read(fd, self->block, 4099));
  DO(3, read(-1, self->block, 4099));
  DO(1, lseek(-1, 0, SEEK_SET));
  DO(11, pread(fd, self->block, 1021, 97 * i_));
  DO(3, pwrite(fd, self->block, 77, 31 * i_));
}

static void more_of_descriptors(struct Thread* self, int fd) {
  struct iovec three[3] = {{self->block, 101}, {self->block + 500, 203}, {self->block + 1000, 307}};
  struct iovec two[2] = {{self->block, 11}, {self->block + 99, 13}};
  DO(1, lseek(fd, 1, SEEK_SET));
  DO(9, readv(fd, three, 3));
  DO(3, lseek(fd, 3 * i_, SEEK_SET));
  DO(3, writev(fd, two, 2));
  DO(3, fsync(fd));
  DO(1, fsync(-1));
  for (int i = 0; i < 5; ++i) {
    int copy = -1;
    DO(1, (copy = dup(fd)) >= 0);
    DO(1, read(copy, self->block, 13));
    DO(1, close(copy));
  }
  struct stat status;
  DO(13, stat(self->known, &status));
  DO(3, stat(self->missing, &status));
  for (int i = 0; i < 3; ++i) {
    void* at = NULL;
    DO(1, (at = mmap(NULL, 4099, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED);
    DO(1, munmap(at, 4099));
  }
  DO(1, mmap(NULL, 4099, PROT_READ, MAP_SHARED, -1, 0) == MAP_FAILED);
}

static void send(struct Thread* self, int fd) {
  int out = -1;
  off_t at = 5;
  DO(1, (out = open(self->sent, O_WRONLY | O_CREAT | O_TRUNC, 0644)) >= 0);
  DO(7, sendfile(out, fd, &at, 2053));
  DO(1, lseek(fd, 0, SEEK_CUR));
  DO(1, close(out));
}

static void use_stdio(struct Thread* self) {
  FILE* text = NULL;
  DO(1, (text = fopen(self->text, "w")) != NULL);
  DO(17, fwrite(self->block, 37, 3, text));
  DO(29, fprintf(text, "%05d of %s\n", i_, "all things."));
  DO(1, fclose(text));
  DO(1, (text = fopen(self->text, "r")) != NULL);
  DO(15, fread(self->block, 1, 101, text));
  DO(1, fclose(text));
  DO(1, fopen(self->missing, "r") != NULL);
}

static void* thread_main(void* argument) {
  struct Thread* self = argument;
  int fd = -1;
  DO(3, open(self->missing, O_RDONLY));
  DO(1, (fd = open(self->known, O_RDWR | O_CREAT | O_TRUNC, 0644)) >= 0);
  write_and_read(self, fd);
  more_of_descriptors(self, fd);
  send(self, fd);
  use_stdio(self);
  DO(1, close(fd));
  DO(1, close(-1));
  return NULL;
}

static void prepare(struct Thread* self, int child, int number) {
  self->child = child;
  self->number = number;
  memset(self->block, 'a' + number % 26, sizeof self->block);
  snprintf(self->known, sizeof self->known, "known-%d-%d", child, number);
  snprintf(self->sent, sizeof self->sent, "sent-%d-%d", child, number);
  snprintf(self->text, sizeof self->text, "text-%d-%d", child, number);
  snprintf(self->missing, sizeof self->missing, "missing-%d-%d", child, number);
}

static void child_main(int child, int count) {
  char line[64];
  uint64_t sum = 0;
  for (int i = 0; i < count; ++i) prepare(&threads[i], child, i);
  for (int i = 0; i < count; ++i)
    if (pthread_create(&threads[i].thread, NULL, thread_main, &threads[i]) != 0) exit(99);
  for (int i = 0; i < count; ++i) {
    pthread_join(threads[i].thread, NULL);
    sum = sum * 31 + threads[i].sum;
  }
  const int length = snprintf(line, sizeof line, "child %d: %016lx\n", child, (unsigned long)sum);
  syscall(SYS_write, 1, line, length);
  exit(10 + child);
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 5;
  if (count < 1 || count > kMostThreads) return 98;
  pid_t pids[kChildren];
  for (int child = 0; child < kChildren; ++child) {
    pids[child] = fork();
    if (pids[child] < 0) return 97;
    if (pids[child] == 0) child_main(child, count);
  }
  for (int child = 0; child < kChildren; ++child) {
    int status;
    if (waitpid(pids[child], &status, 0) != pids[child] || WEXITSTATUS(status) != 10 + child)
      return 96;
  }
  return 7;
}
