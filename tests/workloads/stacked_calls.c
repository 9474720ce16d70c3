/* SPDX-License-Identifier: Apache-2.0
 * stacked_calls: system calls by known ways, for tests of their stacks. 23 reads of 7 bytes by
 * straight_on, 11 of 5 bytes by around_the_corner, through common_part both; 9 writes of 3 bytes by
 * descend, 40 calls deep; 6 reads of 2 bytes by a thread. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

enum { kStraight = 23, kAround = 11, kDeep = 9, kThread = 6, kDepth = 40 };

static volatile long sum; /* what comes after a call keeps it from being a jump */
static int zero, null;

__attribute__((noinline)) void common_part(int bytes) {
  char data[16];
  sum += read(zero, data, (size_t)bytes);
}

__attribute__((noinline)) void straight_on(void) {
  common_part(7);
  sum += 1;
}

__attribute__((noinline)) void around_the_corner(void) {
  common_part(5);
  sum += 2;
}

__attribute__((noinline)) void descend(int depth) {
  volatile char room[300];
  room[depth] = (char)depth;
  if (depth == 0)
    sum += write(null, "abc", 3);
  else
    descend(depth - 1);
  sum += room[depth];
}

static void* of_thread(void* argument) {
  for (int i = 0; i < kThread; ++i) {
    common_part(2);
    sum += 3;
  }
  return argument;
}

int main(void) {
  zero = open("/dev/zero", O_RDONLY);
  null = open("/dev/null", O_WRONLY);
  if (zero < 0 || null < 0) return 1;
  for (int i = 0; i < kStraight; ++i) straight_on();
  for (int i = 0; i < kAround; ++i) around_the_corner();
  for (int i = 0; i < kDeep; ++i) descend(kDepth);
  pthread_t thread;
  if (pthread_create(&thread, NULL, of_thread, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  return 0;
}
