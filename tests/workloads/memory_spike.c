// SPDX-License-Identifier: Apache-2.0
// memory_spike MIB HOLD_MS BEFORE_MS AFTER_MS [FILE MIB]: rests, holds so much anonymous memory for
// a moment, gives it back and rests again. With FILE it first writes that many MiB to the file and
// leaves them in the page cache.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { kMiB = 1 << 20 };

static void rest(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&time, &time) != 0) {
  }
}

static int fill_cache(const char* path, long mib) {
  static char block[kMiB];
  const int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
  for (long i = 0; i < mib; ++i)
    if (write(file, block, kMiB) != kMiB) return 3;
  return fsync(file) != 0 || close(file) != 0 ? 4 : 0;
}

int main(int argc, char** argv) {
  if (argc != 5 && argc != 7) return 2;
  const size_t bytes = (size_t)atol(argv[1]) * kMiB;
  if (argc == 7) {
    const int failed = fill_cache(argv[5], atol(argv[6]));
    if (failed) return failed;
  }
  rest(atol(argv[3]));
  char* memory = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 5;
  memset(memory, 1, bytes);
  rest(atol(argv[2]));
  munmap(memory, bytes);
  rest(atol(argv[4]));
  puts("done");
  return 0;
}
