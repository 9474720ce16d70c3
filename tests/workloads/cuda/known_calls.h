/* SPDX-License-Identifier: Apache-2.0
 * The driver functions that cuda_known calls, how it finds them, and its tally of what it called.
 */
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef uintptr_t W;
/* base name, ABI version, per-thread form */
/* clang-format off: a line each */
#define FUNCTIONS(X)                    \
  X(cuInit, , )                         \
  X(cuDeviceGet, , )                    \
  X(cuDevicePrimaryCtxRetain, , )       \
  X(cuDevicePrimaryCtxRelease, _v2, )   \
  X(cuDevicePrimaryCtxReset, _v2, )     \
  X(cuDevicePrimaryCtxGetState, , )     \
  X(cuDeviceGetAttribute, , )           \
  X(cuCtxGetDevice, , )                 \
  X(cuCtxGetCurrent, , )                \
  X(cuStreamIsCapturing, , _ptsz)       \
  X(cuMemGetAllocationGranularity, , )  \
  X(cuMemSetAccess, , )                 \
  X(cuStreamBeginCapture, _v2, _ptsz)   \
  X(cuStreamEndCapture, , _ptsz)        \
  X(cuGraphExecDestroy, , )             \
  X(cuGraphDestroy, , )                 \
  X(cuCtxCreate, _v2, )                 \
  X(cuCtxDestroy, _v2, )                \
  X(cuCtxSetCurrent, , )                \
  X(cuCtxSynchronize, , )               \
  X(cuModuleLoadData, , )               \
  X(cuModuleUnload, , )                 \
  X(cuModuleGetFunction, , )            \
  X(cuLibraryLoadData, , )              \
  X(cuLibraryGetKernel, , )             \
  X(cuMemAlloc, _v2, )                  \
  X(cuMemAllocPitch, _v2, )             \
  X(cuMemAllocManaged, , )              \
  X(cuMemAllocAsync, , _ptsz)           \
  X(cuMemAllocFromPoolAsync, , _ptsz)   \
  X(cuMemFree, _v2, )                   \
  X(cuMemFreeAsync, , _ptsz)            \
  X(cuMemHostAlloc, , )                 \
  X(cuMemFreeHost, , )                  \
  X(cuArrayCreate, _v2, )               \
  X(cuArrayDestroy, , )                 \
  X(cuMemCreate, , )                    \
  X(cuMemRelease, , )                   \
  X(cuMemRetainAllocationHandle, , )    \
  X(cuMemAddressReserve, , )            \
  X(cuMemAddressFree, , )               \
  X(cuMemMap, , )                       \
  X(cuMemUnmap, , )                     \
  X(cuMemcpy, , _ptds)                  \
  X(cuMemcpyHtoD, _v2, _ptds)           \
  X(cuMemcpyDtoH, _v2, _ptds)           \
  X(cuMemcpyDtoD, _v2, _ptds)           \
  X(cuMemcpyHtoDAsync, _v2, _ptsz)      \
  X(cuMemcpyDtoHAsync, _v2, _ptsz)      \
  X(cuMemcpy2D, _v2, _ptds)             \
  X(cuMemsetD8, _v2, _ptds)             \
  X(cuMemsetD32Async, , _ptsz)          \
  X(cuLaunchKernel, , _ptsz)            \
  X(cuLaunchKernelEx, , _ptsz)          \
  X(cuLaunchCooperativeKernel, , _ptsz) \
  X(cuLaunchHostFunc, , _ptsz)          \
  X(cuGraphCreate, , )                  \
  X(cuGraphInstantiateWithFlags, , )    \
  X(cuGraphLaunch, , _ptsz)             \
  X(cuStreamCreate, , )                 \
  X(cuStreamDestroy, _v2, )             \
  X(cuStreamSynchronize, , _ptsz)       \
  X(cuEventCreate, , )                  \
  X(cuEventDestroy, _v2, )              \
  X(cuEventRecord, , _ptsz)             \
  X(cuEventSynchronize, , )
/* clang-format on */

typedef int Function();
enum {
#define NUMBER(base, version, form) n_##base,
  FUNCTIONS(NUMBER) kCount
};
static Function* function[kCount];
static const char* name[kCount];
static struct { long calls, bytes, errors; } tally[kCount];

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "cuda_known: %s\n", what);
  _exit(3);
}

static int count(int n, int result, long bytes) {
  __atomic_fetch_add(&tally[n].calls, 1, __ATOMIC_RELAXED);
  if (result == 0) __atomic_fetch_add(&tally[n].bytes, bytes, __ATOMIC_RELAXED);
  if (result != 0) __atomic_fetch_add(&tally[n].errors, 1, __ATOMIC_RELAXED);
  return result;
}
#define TRY_CALL(base, bytes, ...) count(n_##base, function[n_##base](__VA_ARGS__), bytes)
#define CALL(base, bytes, ...)                                          \
  do {                                                                  \
    const int failed = TRY_CALL(base, bytes, __VA_ARGS__);              \
    if (failed != 0) fprintf(stderr, "%s returns %d\n", #base, failed); \
    check(failed == 0, #base);                                          \
  } while (0)

#ifdef DIRECT
#define DECLARE(base, version, form) extern int base##version();
FUNCTIONS(DECLARE)
extern int cuFromTheFuture_v7(int) __attribute__((weak));
#endif
static int is_fake; /* the driver: then there is more that can be known */

/* Functions that nobody knows but this program, by the names it found them by; NULL: none. */
typedef int Future(int n);
typedef double MuchFuture(double a, long b, float c, long d, double e, long f, double g, long h,
                          double i, long j, double k, long l, double m, double n, long o, long p);
static struct {
  Future* one;
  MuchFuture* much;
  const char* name;
  long calls, much_calls;
} future;
static void call_future(int times) {
  for (int i = 0; i < times && future.one != NULL; ++i) {
    errno = 77;
    check(future.one(i) == i + 1 && errno == 77, "an unknown function");
    __atomic_fetch_add(&future.calls, 1, __ATOMIC_RELAXED);
  }
  if (future.much == NULL) return;
  check(future.much(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) == 255 + 3280,
        "what an unknown function was given");
  check(future.much(0.5, 7, 0.25f, 6, 3, 5, 9, 4, 11, 3, 13, 2, 17, 19, 1, 8) == 23329.0,
        "what an unknown function was given");
  __atomic_fetch_add(&future.much_calls, 2, __ATOMIC_RELAXED);
}

static void find(const char* way, int per_thread) {
#define NAMES(base, version, form) per_thread ? #base #version #form : #base #version,
#define BASES(base, version, form) #base,
  static const char* const kBases[] = {FUNCTIONS(BASES)};
  const char* full[] = {FUNCTIONS(NAMES)};
  (void)kBases;
  memcpy(name, full, sizeof full);
#ifdef DIRECT
#define TAKE(base, version, form) function[n_##base] = (Function*)base##version;
  FUNCTIONS(TAKE)
  (void)way;
  is_fake = cuFromTheFuture_v7 != NULL;
#else
  void* library = dlopen("libcuda.so.1",
                         RTLD_NOW | (strcmp(way, "dlsym-default") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
  check(library != NULL, "libcuda.so.1 is not there");
  check(dlsym(library, "cuThisIsNone") == NULL && dlerror() != NULL, "dlsym of nothing");
  future.name = "cuFromTheFuture_v7";
  future.one = (Future*)dlsym(library, future.name);
  future.much = (MuchFuture*)dlsym(library, "cuMuchFromTheFuture");
  is_fake = future.one != NULL;
  check(future.one == (Future*)dlsym(library, future.name), "a function that is another one");
  const int* data = (const int*)dlsym(library, "cuDataOfTheFuture");
  check(!is_fake || (data != NULL && data[0] == 6 && data[1] == 7), "what is no function");
  if (strncmp(way, "dlsym", 5) == 0) {
    void* where = strcmp(way, "dlsym") == 0 ? library : RTLD_DEFAULT;
    for (int i = 0; i < kCount; ++i) function[i] = (Function*)dlsym(where, name[i]);
  } else if (strcmp(way, "proc") == 0) {
    int (*get)(const char*, void**, int, unsigned long) =
        (int (*)(const char*, void**, int, unsigned long))dlsym(library, "cuGetProcAddress");
    for (int i = 0; i < kCount; ++i)
      check(get(kBases[i], (void**)&function[i], 12040, per_thread ? 2 : 0) == 0, kBases[i]);
    future.name = "cuFromTheFuture";
    check(!is_fake || (get(future.name, (void**)&future.one, 12040, 0) == 0 &&
                       get("cuMuchFromTheFuture", (void**)&future.much, 12040, 0) == 0),
          future.name);
  } else {
    typedef int Get(const char*, void**, int, unsigned long, int*);
    Get *first = (Get*)dlsym(library, "cuGetProcAddress_v2"), *get = NULL;
    int status = 9;
    check(first("cuGetProcAddress", (void**)&get, 12040, 0, &status) == 0 && status == 0,
          "cuGetProcAddress of itself");
    check(!is_fake || (first("cuNoSuchThing", (void**)&function[0], 12040, 0, &status) == 500 &&
                       status == 1),
          "what is not found");
    for (int i = 0; i < kCount; ++i)
      check(get(kBases[i], (void**)&function[i], 12040, per_thread ? 2 : 0, &status) == 0,
            kBases[i]);
  }
#endif
  for (int i = 0; i < kCount; ++i) check(function[i] != NULL, name[i]);
}

static void forget_tally(void) {
  memset(tally, 0, sizeof tally);
  future.calls = future.much_calls = 0;
}

/* Appends the tally, by system calls that are not the C library's wrappers' business. */
static void write_tally(void) {
  static char text[16384];
  int length = 0;
  for (int i = 0; i < kCount; ++i)
    if (tally[i].calls != 0)
      length += snprintf(text + length, sizeof text - (size_t)length, "%s %ld %ld %ld\n", name[i],
                         tally[i].calls, tally[i].bytes, tally[i].errors);
  if (future.calls != 0)
    length += snprintf(text + length, sizeof text - (size_t)length,
                       "%s %ld 0 0\ncuMuchFromTheFuture %ld 0 0\n", future.name, future.calls,
                       future.much_calls);
  const int fd = open("tally", O_WRONLY | O_CREAT | O_APPEND, 0666);
  check(write(fd, text, (size_t)length) == length && close(fd) == 0, "tally");
}
