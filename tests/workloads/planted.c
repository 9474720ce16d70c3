// SPDX-License-Identifier: Apache-2.0
// Works through three functions in turn for so many rounds. Built again with -DPLANTED=N, one of
// them takes N times as long: the change that a diff must show.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef PLANTED
#define PLANTED 1
#endif

static volatile uint64_t sink;

__attribute__((noinline)) static void parse_input(int n) {
  for (int i = 0; i < n; ++i) sink += (uint64_t)i * 3;
}
__attribute__((noinline)) static void checksum_block(int n) {
  for (int i = 0; i < n * PLANTED; ++i) sink += (uint64_t)i ^ sink;
}
__attribute__((noinline)) static void write_output(int n) {
  for (int i = 0; i < n; ++i) sink += (uint64_t)i + 1;
}
__attribute__((noinline)) static void handle_request(int n) {
  parse_input(3 * n);
  checksum_block(n);
  write_output(2 * n);
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 100;
  for (long i = 0; i < rounds; ++i) handle_request(100000);
  printf("%d\n", (int)(sink & 1));
  return 0;
}
