/* SPDX-License-Identifier: Apache-2.0
 * Known numbers of driver calls on a real GPU, found by a given way; what it called is added to
 * ./tally (a line a function: name, calls, bytes, errors). With -DDIRECT it is linked to libcuda.
 *
 *   known dlsym|proc_v2 plain|ptds THREADS exit|_exit|abort|kill|fork */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef uintptr_t W;
/* base name, ABI version, per-thread form */
#define FUNCTIONS(X)                                                                               \
  X(cuInit, , )                                                                                    \
  X(cuDeviceGet, , ) X(cuDevicePrimaryCtxRetain, , ) X(cuDevicePrimaryCtxRelease, _v2, ) X(        \
      cuCtxSetCurrent, , ) X(cuCtxSynchronize, , ) X(cuModuleLoadData, , ) X(cuModuleUnload, , )   \
      X(cuModuleGetFunction, , ) X(cuMemAlloc, _v2, ) X(cuMemAllocPitch, _v2, )                    \
          X(cuMemAllocManaged, , ) X(cuMemAllocAsync, , _ptsz) X(cuMemFree, _v2, ) X(              \
              cuMemFreeAsync, , _ptsz) X(cuMemHostAlloc, , ) X(cuMemFreeHost, , )                  \
              X(cuMemGetAllocationGranularity, , ) X(cuMemCreate, , ) X(cuMemRelease, , ) X(       \
                  cuMemRetainAllocationHandle, , ) X(cuMemAddressReserve, , )                      \
                  X(cuMemAddressFree, , ) X(cuMemMap, , ) X(cuMemUnmap, , ) X(cuMemSetAccess, , )  \
                      X(cuMemcpy, , _ptds) X(cuMemcpyHtoD, _v2, _ptds) X(cuMemcpyDtoH, _v2, _ptds) \
                          X(cuMemcpyDtoD, _v2, _ptds) X(cuMemcpyHtoDAsync, _v2, _ptsz) X(          \
                              cuMemcpyDtoHAsync, _v2, _ptsz) X(cuMemsetD8, _v2, _ptds)             \
                              X(cuMemsetD32Async, , _ptsz) X(cuLaunchKernel, , _ptsz) X(           \
                                  cuLaunchKernelEx, , _ptsz) X(cuLaunchCooperativeKernel, , _ptsz) \
                                  X(cuStreamBeginCapture, _v2, _ptsz) X(cuStreamEndCapture,        \
                                                                        , _ptsz)                   \
                                      X(cuGraphInstantiateWithFlags, , ) X(cuGraphLaunch, , _ptsz) \
                                          X(cuGraphExecDestroy, , ) X(cuGraphDestroy, , )          \
                                              X(cuStreamCreate, , ) X(cuStreamDestroy, _v2, )      \
                                                  X(cuStreamSynchronize, , _ptsz)                  \
                                                      X(cuEventCreate, , )                         \
                                                          X(cuEventDestroy, _v2, )                 \
                                                              X(cuEventRecord, , _ptsz)            \
                                                                  X(cuEventSynchronize, , )

typedef int Function();
enum {
#define NUMBER(base, version, form) n_##base,
  FUNCTIONS(NUMBER) kCount
};
static Function* function[kCount];
static const char* name[kCount];
static struct { long calls, bytes, errors; } tally[kCount];

/* Each thread that runs adds one. */
static const char kPtx[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .entry fathom_add(.param .u64 where) {\n"
    "  .reg .u64 %rd<3>;\n  .reg .u32 %r<2>;\n"
    "  ld.param.u64 %rd1, [where];\n  cvta.to.global.u64 %rd2, %rd1;\n"
    "  atom.global.add.u32 %r1, [%rd2], 1;\n  ret;\n}\n";

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "known: %s\n", what);
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
#endif

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
#else
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  check(library != NULL, "libcuda.so.1 is not there");
  typedef int Get(const char*, void**, int, unsigned long, int*);
  Get* get = (Get*)dlsym(library, "cuGetProcAddress_v2");
  const int by_name = strcmp(way, "dlsym") == 0;
  int status = 9;
  for (int i = 0; i < kCount; ++i) {
    if (by_name)
      function[i] = (Function*)dlsym(library, name[i]);
    else
      get(kBases[i], (void**)&function[i], 12000, per_thread ? 2 : 0, &status);
    check(function[i] != NULL, name[i]);
  }
#endif
}

static void write_tally(void) {
  char text[8192];
  int length = 0;
  for (int i = 0; i < kCount; ++i)
    if (tally[i].calls != 0)
      length += snprintf(text + length, sizeof text - (size_t)length, "%s %ld %ld %ld\n", name[i],
                         tally[i].calls, tally[i].bytes, tally[i].errors);
  const int fd = open("tally", O_WRONLY | O_CREAT | O_APPEND, 0666);
  check(write(fd, text, (size_t)length) == length && close(fd) == 0, "tally");
}

/* CUmemAllocationProp and CUmemAccessDesc. */
struct Where {
  unsigned type, handles, location_type;
  int location;
  void* more[4];
};
struct Access {
  unsigned location_type;
  int location;
  unsigned flags;
};

static void memory(W stream) {
  W at[7];
  size_t pitch, part = 0;
  const struct Where where = {.type = 1, .location_type = 1};
  const struct Access access = {1, 0, 3};
  for (int i = 0; i < 7; ++i) CALL(cuMemAlloc, 4099, &at[i], (size_t)4099);
  for (int i = 6; i >= 0; --i) CALL(cuMemFree, 4099, at[i]);
  check(TRY_CALL(cuMemAlloc, 0, &at[0], (size_t)0) != 0, "nothing can be allocated");
  check(TRY_CALL(cuMemFree, 0, (W)0xdead00) != 0, "what is not ours can be freed");
  CALL(cuMemAllocPitch, 0, &at[0], &pitch, (size_t)100, (size_t)13, 4u);
  __atomic_fetch_add(&tally[n_cuMemAllocPitch].bytes, (long)(pitch * 13), __ATOMIC_RELAXED);
  CALL(cuMemFree, (long)(pitch * 13), at[0]);
  for (int i = 0; i < 2; ++i) CALL(cuMemAllocManaged, 3001, &at[i], (size_t)3001, 1u);
  for (int i = 0; i < 2; ++i) CALL(cuMemFree, 3001, at[i]);
  for (int i = 0; i < 5; ++i) CALL(cuMemAllocAsync, 1009, &at[i], (size_t)1009, stream);
  for (int i = 0; i < 5; ++i) CALL(cuMemFreeAsync, 1009, at[i], stream);
  for (int i = 0; i < 3; ++i) CALL(cuMemHostAlloc, 777, &at[i], (size_t)777, 0u);
  for (int i = 0; i < 3; ++i) CALL(cuMemFreeHost, 777, at[i]);
  CALL(cuMemGetAllocationGranularity, 0, &part, &where, 0u);
  const long bytes = (long)part;
  CALL(cuMemAddressReserve, bytes * 2, &at[0], part * 2, (size_t)0, (W)0, 0ul);
  CALL(cuMemCreate, bytes, &at[1], part, &where, 0ul);
  CALL(cuMemCreate, bytes, &at[2], part, &where, 0ul);
  CALL(cuMemMap, bytes, at[0], part, (size_t)0, at[1], 0ul);
  CALL(cuMemMap, bytes, at[0] + part, part, (size_t)0, at[2], 0ul);
  CALL(cuMemSetAccess, 0, at[0], part * 2, &access, (size_t)1);
  CALL(cuMemRetainAllocationHandle, 0, &at[3], at[0]);
  CALL(cuMemUnmap, bytes * 2, at[0], part * 2);
  CALL(cuMemRelease, 0, at[1]);
  CALL(cuMemRelease, 0, at[3]);
  CALL(cuMemRelease, 0, at[2]);
  CALL(cuMemAddressFree, bytes * 2, at[0], part * 2);
}

static void copies(W stream) {
  W here, there;
  char text[4096] = "some text", back[4096] = "";
  CALL(cuMemAlloc, 4096, &here, (size_t)4096);
  CALL(cuMemAlloc, 4096, &there, (size_t)4096);
  for (int i = 0; i < 11; ++i) CALL(cuMemcpyHtoD, 257, here, text, (size_t)257);
  for (int i = 0; i < 3; ++i) CALL(cuMemcpyDtoD, 64, there, here, (size_t)64);
  for (int i = 0; i < 5; ++i) CALL(cuMemcpyDtoH, 129, back, here, (size_t)129);
  check(strcmp(text, back) == 0, "the text has changed");
  for (int i = 0; i < 2; ++i) CALL(cuMemcpyHtoDAsync, 1001, here, text, (size_t)1001, stream);
  for (int i = 0; i < 4; ++i) CALL(cuMemcpyDtoHAsync, 500, back, here, (size_t)500, stream);
  CALL(cuMemcpy, 33, there, here, (size_t)33);
  CALL(cuMemcpy, 35, (W)back, here, (size_t)35);
  CALL(cuMemsetD8, 99, here, 1, (size_t)99);
  CALL(cuMemsetD32Async, 400, here, 1u, (size_t)100, stream);
  CALL(cuStreamSynchronize, 0, stream);
  CALL(cuMemFree, 4096, here);
  CALL(cuMemFree, 4096, there);
}

static void launches(W stream) {
  struct {
    unsigned shape[7];
    W stream;
    void* attributes;
    unsigned count;
  } config = {{2, 1, 1, 128, 1, 1, 0}, stream, NULL, 0};
  W module, kernel, where, graph, ready;
  unsigned sum = 0;
  void* arguments[] = {&where};
  CALL(cuModuleLoadData, 0, &module, kPtx);
  CALL(cuModuleGetFunction, 0, &kernel, module, "fathom_add");
  CALL(cuMemAlloc, 4, &where, (size_t)4);
  CALL(cuMemsetD8, 4, where, 0, (size_t)4);
  CALL(cuCtxSynchronize, 0, 0);
  for (int i = 0; i < 23; ++i)
    CALL(cuLaunchKernel, 0, kernel, 3u, 2u, 1u, 32u, 4u, 1u, 0u, stream, arguments, NULL);
  for (int i = 0; i < 9; ++i) CALL(cuLaunchKernelEx, 0, &config, kernel, arguments, NULL);
  for (int i = 0; i < 2; ++i)
    CALL(cuLaunchCooperativeKernel, 0, kernel, 1u, 1u, 1u, 8u, 8u, 1u, 0u, stream, arguments);
  CALL(cuStreamBeginCapture, 0, stream, 1u);
  for (int i = 0; i < 3; ++i)
    CALL(cuLaunchKernel, 0, kernel, 1u, 1u, 1u, 32u, 1u, 1u, 0u, stream, arguments, NULL);
  CALL(cuStreamEndCapture, 0, stream, &graph);
  CALL(cuGraphInstantiateWithFlags, 0, &ready, graph, 0ul);
  for (int i = 0; i < 4; ++i) CALL(cuGraphLaunch, 0, ready, stream);
  CALL(cuStreamSynchronize, 0, stream);
  CALL(cuMemcpyDtoH, 4, &sum, where, (size_t)4);
  check(sum == 23 * 768 + 9 * 256 + 2 * 64 + 4 * 3 * 32, "kernels did something else");
  CALL(cuGraphExecDestroy, 0, ready);
  CALL(cuGraphDestroy, 0, graph);
  CALL(cuMemFree, 4, where);
  CALL(cuModuleUnload, 0, module);
}

static void* work(void* context) {
  W stream, event;
  CALL(cuCtxSetCurrent, 0, (W)context);
  CALL(cuStreamCreate, 0, &stream, 1u);
  CALL(cuEventCreate, 0, &event, 0u);
  memory(stream);
  copies(stream);
  launches(stream);
  CALL(cuEventRecord, 0, event, stream);
  CALL(cuEventSynchronize, 0, event);
  CALL(cuEventDestroy, 0, event);
  CALL(cuStreamDestroy, 0, stream);
  return NULL;
}

static void run(int threads) {
  pthread_t list[256];
  W context = 0;
  int device = 9;
  CALL(cuInit, 0, 0u);
  CALL(cuDeviceGet, 0, &device, 0);
  CALL(cuDevicePrimaryCtxRetain, 0, &context, device);
  for (int i = 1; i < threads; ++i)
    check(pthread_create(&list[i], NULL, work, (void*)context) == 0, "no thread");
  work((void*)context);
  for (int i = 1; i < threads; ++i) pthread_join(list[i], NULL);
  W kept; /* goes with the context */
  CALL(cuMemAlloc, 6007, &kept, (size_t)6007);
  CALL(cuDevicePrimaryCtxRelease, 0, device);
}

int main(int argc, char** argv) {
  const char* end = argc > 4 ? argv[4] : "exit";
  find(argc > 1 ? argv[1] : "dlsym", argc > 2 && strcmp(argv[2], "ptds") == 0);
  if (strcmp(end, "fork") == 0) { /* before cuInit: a child of a process with CUDA has none */
    const pid_t child = fork();
    if (child == 0) {
      run(1);
      write_tally();
      _exit(7);
    }
    int status = 0;
    check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "the child");
  }
  run(argc > 3 ? atoi(argv[3]) : 1);
  if (strcmp(end, "fork") == 0) { /* and one that does nothing with it */
    const pid_t child = fork();
    if (child == 0) _exit(7);
    int status = 0;
    check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "the second child");
  }
  write_tally();
  if (strcmp(end, "_exit") == 0) _exit(7);
  if (strcmp(end, "abort") == 0) abort();
  if (strcmp(end, "kill") == 0) raise(SIGKILL);
  return 7;
}
