// SPDX-License-Identifier: Apache-2.0
// Pushes known values through examples/app/fathom.h: 23 numbers 4099, 4100, … from each of two
// threads, 7 from a child, a timer of 0.5 s, a rate of 4/s, two marks. With an argument it goes on
// with that many numbers as fast as it can and says on stdout how many ms that took.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../../examples/app/fathom.h"

static void* push(void* name) {
  for (int i = 0; i < 23; ++i) fathom_number(name, 4099 + i, "items");
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t other;
  fathom_mark("begin \"quoted\"\n\tµ");
  pthread_create(&other, NULL, push, "other");
  push("main");
  pthread_join(other, NULL);
  if (fork() == 0) {
    for (int i = 0; i < 7; ++i) fathom_number("child", 1009, NULL);
    _exit(0);
  }
  wait(NULL);
  fathom_timer("step", 0.5);
  fathom_rate("frames", 0.25);
  fathom_number("not a number", 0.0 / 0.0, NULL);
  const long many = argc > 1 ? atol(argv[1]) : 0;
  const double start = fathom_now();
  for (long i = 0; i < many; ++i) fathom_number("flood", (double)i, "items");
  if (many > 0) printf("%.0f\n", (fathom_now() - start) * 1e3);
  errno = 77;
  fathom_mark("end");
  return errno == 77 ? 0 : 1;
}
