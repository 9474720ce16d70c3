/* SPDX-License-Identifier: Apache-2.0
 * Nanoseconds that one cuLaunchKernel of an empty kernel takes on the host: the least of many short
 * loops, each on an empty queue. Prints one number. Runs on the fake driver, too.
 *
 *   launch_cost [LOOPS] */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uintptr_t W;
typedef int Function();
enum { kLaunches = 400 };

static const char kPtx[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry nothing() {\n  ret;\n}\n";

static int64_t now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000ll + at.tv_nsec;
}
static Function* find(const char* name) {
  static void* library;
  if (library == NULL) library = dlopen("libcuda.so.1", RTLD_NOW);
  Function* found = library != NULL ? (Function*)dlsym(library, name) : NULL;
  if (found == NULL) fprintf(stderr, "launch_cost: no %s\n", name), exit(3);
  return found;
}
static void check(int result, const char* what) {
  if (result != 0) fprintf(stderr, "launch_cost: %s returns %d\n", what, result), exit(3);
}
static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char** argv) {
  const int loops = argc > 1 ? atoi(argv[1]) : 500;
  W context, module, kernel;
  double* times = calloc((size_t)loops, sizeof *times);
  check(find("cuInit")(0u), "cuInit");
  check(find("cuDevicePrimaryCtxRetain")(&context, 0), "cuDevicePrimaryCtxRetain");
  check(find("cuCtxSetCurrent")(context), "cuCtxSetCurrent");
  check(find("cuModuleLoadData")(&module, kPtx), "cuModuleLoadData");
  check(find("cuModuleGetFunction")(&kernel, module, "nothing"), "cuModuleGetFunction");
  Function *launch = find("cuLaunchKernel"), *wait = find("cuCtxSynchronize");
  for (int i = 0; i < loops; ++i) {
    const int64_t from = now();
    for (int n = 0; n < kLaunches; ++n)
      launch(kernel, 1u, 1u, 1u, 32u, 1u, 1u, 0u, (W)0, NULL, NULL);
    times[i] = (double)(now() - from) / kLaunches;
    wait(0);
  }
  qsort(times, (size_t)loops, sizeof *times, compare);
  printf("%.1f\n", times[loops / 4]);
  return 0;
}
