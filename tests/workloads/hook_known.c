/* SPDX-License-Identifier: Apache-2.0
 * hook_known FILE: 7 calls of outer, with 23 calls of inner in all, each of which writes 4,099
 * bytes; 3 times the file is synced. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static const char kBytes[4099];

__attribute__((noinline)) int inner(int fd) {
  if (write(fd, kBytes, sizeof kBytes) != (ssize_t)sizeof kBytes) exit(1);
  return fd;
}

__attribute__((noinline)) int outer(int fd, int times) {
  int sum = 0;
  for (int i = 0; i < times; ++i) sum += inner(fd);
  return sum;
}

int main(int argc, char** argv) {
  static const int kTimes[7] = {5, 1, 4, 2, 6, 3, 2};
  const int fd = argc == 2 ? open(argv[1], O_CREAT | O_TRUNC | O_WRONLY, 0600) : -1;
  if (fd < 0) return 1;
  for (int i = 0; i < 7; ++i) {
    outer(fd, kTimes[i]);
    if (i % 3 == 0 && fsync(fd) != 0) return 1;
  }
  return 0;
}
