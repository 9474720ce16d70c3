/* SPDX-License-Identifier: Apache-2.0
 * Nanoseconds that one cuLaunchKernel of an empty kernel takes on the host: as the program finds
 * it, and the driver's own, in turns, so that both meet the same machine. Prints the lower quartile
 * of many short loops of each, each on an empty queue, and the median of what a loop took more than
 * the other's right beside it. Runs on the fake driver, too; with `cold`
 * a launch finds the first caches filled with other code and data, as a real driver leaves them.
 *
 *   launch_cost [LOOPS [cold]] */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef uintptr_t W;
typedef int Function();
enum { kLaunches = 400, kCodeBytes = 96 << 10, kDataBytes = 64 << 10 };

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
/* The driver's own, past whoever stands before it: the library's table of symbols says where it is,
 * which ends where that of their names begins. */
static Function* find_own(const char* name) {
  struct link_map* map = NULL;
  const Elf64_Sym* symbols = NULL;
  const char* names = NULL;
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == NULL || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return NULL;
  for (const Elf64_Dyn* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = (const Elf64_Sym*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) names = (const char*)entry->d_un.d_ptr;
  }
  for (const Elf64_Sym* at = symbols; at != NULL && (const char*)(at + 1) <= names; ++at)
    if (at->st_value != 0 && strcmp(names + at->st_name, name) == 0)
      return (Function*)(map->l_addr + at->st_value);
  return NULL;
}
static void check(int result, const char* what) {
  if (result != 0) fprintf(stderr, "launch_cost: %s returns %d\n", what, result), exit(3);
}
static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

/* Code that does nothing, and much of it; NULL: not wanted. */
static void (*other_code)(void);
static char other_data[kDataBytes];
static void make_cold(void) {
  static const unsigned char kNothing[] = {0x0f, 0x1f, 0x40, 0x00}, kReturn = 0xc3;
  unsigned char* at = mmap(NULL, kCodeBytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return;
  for (size_t i = 0; i + 4 <= kCodeBytes; i += 4) memcpy(at + i, kNothing, 4);
  at[kCodeBytes - 1] = kReturn;
  at[kCodeBytes - 2] = at[kCodeBytes - 3] = at[kCodeBytes - 4] = 0x90;
  *(void**)&other_code = at;
}
static void cool(void) {
  for (size_t i = 0; i < kDataBytes; i += 64) ++*(volatile char*)&other_data[i];
  other_code();
}

static double loop(Function* launch, W kernel, Function* wait) {
  const int64_t from = now();
  for (int n = 0; n < kLaunches; ++n) {
    launch(kernel, 1u, 1u, 1u, 32u, 1u, 1u, 0u, (W)0, NULL, NULL);
    if (other_code != NULL) cool();
  }
  const double each = (double)(now() - from) / kLaunches;
  wait(0);
  return each;
}

int main(int argc, char** argv) {
  const int loops = argc > 1 ? atoi(argv[1]) : 500;
  if (argc > 2 && strcmp(argv[2], "cold") == 0) make_cold();
  W context, module, kernel;
  double* times[3];
  for (int i = 0; i < 3; ++i) times[i] = calloc((size_t)loops, sizeof(double));
  check(find("cuInit")(0u), "cuInit");
  check(find("cuDevicePrimaryCtxRetain")(&context, 0), "cuDevicePrimaryCtxRetain");
  check(find("cuCtxSetCurrent")(context), "cuCtxSetCurrent");
  check(find("cuModuleLoadData")(&module, kPtx), "cuModuleLoadData");
  check(find("cuModuleGetFunction")(&kernel, module, "nothing"), "cuModuleGetFunction");
  Function* launch[2] = {find("cuLaunchKernel"), find_own("cuLaunchKernel")};
  check(launch[1] == NULL, "the driver's own cuLaunchKernel");
  Function* wait = find("cuCtxSynchronize");
  for (int i = 0; i < loops; ++i)
    for (int turn = 0; turn < 2; ++turn) {
      const int which = (i + turn) % 2; /* each goes first as often as the other */
      times[which][i] = loop(launch[which], kernel, wait);
    }
  for (int i = 0; i < loops; ++i) times[2][i] = times[0][i] - times[1][i];
  for (int which = 0; which < 3; ++which)
    qsort(times[which], (size_t)loops, sizeof(double), compare);
  printf("%.1f %.1f %.1f\n", times[0][loops / 4], times[1][loops / 4], times[2][loops / 2]);
  return 0;
}
