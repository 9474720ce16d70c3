/* SPDX-License-Identifier: Apache-2.0
 * Known numbers of driver calls, found by a given way, in threads and processes that end in a given
 * one; what it called is added to ./tally (a line a function: name, calls, bytes, errors) by ways
 * that no library sees. Runs on the fake driver. With -DDIRECT it is linked to libcuda itself.
 *
 *   cuda_known [dlsym|dlsym-default|proc|proc_v2] [plain|ptds] [THREADS]
 * [exit|_exit|abort|kill|segv|fork|exec|leak] */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

typedef uintptr_t W;
/* base name, ABI version, per-thread form */
/* clang-format off: a line each */
#define FUNCTIONS(X)                    \
  X(cuInit, , )                         \
  X(cuDeviceGet, , )                    \
  X(cuDevicePrimaryCtxRetain, , )       \
  X(cuDevicePrimaryCtxReset, _v2, )     \
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
#define CALL(base, bytes, ...) check(TRY_CALL(base, bytes, __VA_ARGS__) == 0, #base)

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
  void* library = dlopen("libcuda.so.1",
                         RTLD_NOW | (strcmp(way, "dlsym-default") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
  check(library != NULL, "libcuda.so.1 is not there");
  check(dlsym(library, "cuThisIsNone") == NULL && dlerror() != NULL, "dlsym of nothing");
  int (*future)(int) = (int (*)(int))dlsym(library, "cuFromTheFuture_v7");
  check(future != NULL && future(6) == 7, "an unknown function");
  if (strncmp(way, "dlsym", 5) == 0) {
    void* where = strcmp(way, "dlsym") == 0 ? library : RTLD_DEFAULT;
    for (int i = 0; i < kCount; ++i) function[i] = (Function*)dlsym(where, name[i]);
  } else if (strcmp(way, "proc") == 0) {
    int (*get)(const char*, void**, int, unsigned long) =
        (int (*)(const char*, void**, int, unsigned long))dlsym(library, "cuGetProcAddress");
    for (int i = 0; i < kCount; ++i)
      check(get(kBases[i], (void**)&function[i], 12040, per_thread ? 2 : 0) == 0, kBases[i]);
  } else {
    typedef int Get(const char*, void**, int, unsigned long, int*);
    Get *first = (Get*)dlsym(library, "cuGetProcAddress_v2"), *get = NULL;
    int status = 9;
    check(first("cuGetProcAddress", (void**)&get, 12040, 0, &status) == 0 && status == 0,
          "cuGetProcAddress of itself");
    check(first("cuNoSuchThing", (void**)&function[0], 12040, 0, &status) == 500 && status == 1,
          "what is not found");
    for (int i = 0; i < kCount; ++i)
      check(get(kBases[i], (void**)&function[i], 12040, per_thread ? 2 : 0, &status) == 0,
            kBases[i]);
  }
#endif
  for (int i = 0; i < kCount; ++i) check(function[i] != NULL, name[i]);
}

/* Appends the tally, by system calls that are not the C library's wrappers' business. */
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

static void memory(W stream) {
  W at[7], pitched;
  size_t pitch;
  struct {
    size_t width, height;
    unsigned format, channels;
  } shape = {17, 5, 0x20, 2};
  struct {
    unsigned type, handles, location_type;
    int location;
  } where = {1, 0, 1, 0};
  for (int i = 0; i < 7; ++i) CALL(cuMemAlloc, 4099, &at[i], (size_t)4099);
  for (int i = 6; i >= 0; --i) CALL(cuMemFree, 4099, at[i]);
  check(TRY_CALL(cuMemAlloc, 0, &at[0], (size_t)0) != 0, "nothing can be allocated");
  check(TRY_CALL(cuMemFree, 0, (W)0xdead00) != 0, "what is not ours can be freed");
  CALL(cuMemAllocPitch, 512 * 13, &pitched, &pitch, (size_t)100, (size_t)13, 4u);
  CALL(cuMemFree, 512 * 13, pitched);
  for (int i = 0; i < 2; ++i) CALL(cuMemAllocManaged, 3001, &at[i], (size_t)3001, 1u);
  for (int i = 0; i < 2; ++i) CALL(cuMemFree, 3001, at[i]);
  for (int i = 0; i < 5; ++i) CALL(cuMemAllocAsync, 1009, &at[i], (size_t)1009, stream);
  for (int i = 0; i < 5; ++i) CALL(cuMemFreeAsync, 1009, at[i], stream);
  CALL(cuMemAllocFromPoolAsync, 2003, &at[0], (size_t)2003, (W)7, stream);
  CALL(cuMemFree, 2003, at[0]);
  for (int i = 0; i < 3; ++i) CALL(cuMemHostAlloc, 777, &at[i], (size_t)777, 0u);
  for (int i = 0; i < 3; ++i) CALL(cuMemFreeHost, 777, at[i]);
  CALL(cuArrayCreate, 17 * 5 * 8, &at[0], &shape);
  CALL(cuArrayDestroy, 17 * 5 * 8, at[0]);
  /* Physical memory lives until it is released and unmapped, in whatever order. */
  const size_t part = 1 << 16;
  CALL(cuMemAddressReserve, (long)part * 2, &at[0], part * 2, (size_t)0, (W)0, 0ul);
  CALL(cuMemCreate, (long)part, &at[1], part, &where, 0ul);
  CALL(cuMemCreate, (long)part, &at[2], part, &where, 0ul);
  CALL(cuMemMap, (long)part, at[0], part, (size_t)0, at[1], 0ul);
  CALL(cuMemMap, (long)part, at[0] + part, part, (size_t)0, at[2], 0ul);
  CALL(cuMemRetainAllocationHandle, 0, &at[3], at[0]);
  check(at[3] == at[1], "the handle is another");
  CALL(cuMemUnmap, (long)part * 2, at[0], part * 2);
  CALL(cuMemRelease, 0, at[1]);
  CALL(cuMemRelease, 0, at[1]);
  CALL(cuMemRelease, 0, at[2]);
  CALL(cuMemAddressFree, (long)part * 2, at[0], part * 2);
}

static void copies(W stream) {
  struct {
    size_t x, y;
    unsigned type;
    W from[4];
    size_t to_x, to_y;
    unsigned to_type;
    W to[4];
    size_t width, height;
  } flat = {.type = 1, .to_type = 2, .width = 31, .height = 3};
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
  CALL(cuMemcpy, 35, back, here, (size_t)35);
  CALL(cuMemcpy2D, 93, &flat);
  CALL(cuMemsetD8, 99, here, 1, (size_t)99);
  CALL(cuMemsetD32Async, 400, here, 1u, (size_t)100, stream);
  CALL(cuMemFree, 4096, here);
  CALL(cuMemFree, 4096, there);
}

static void nothing(void* data) { ++*(int*)data; }

static void launches(W stream) {
  struct {
    unsigned shape[7];
    W stream;
    void* attributes;
    unsigned count;
  } config = {{2, 1, 1, 128, 1, 1, 64}, 0, NULL, 0};
  W module, first, library, second, graph, ready;
  uint64_t sum = 0, *where = &sum;
  int called = 0;
  void* arguments[] = {&where};
  CALL(cuModuleLoadData, 0, &module, "image");
  CALL(cuModuleGetFunction, 0, &first, module, "_Z7vec_addPKfS0_Pfi");
  CALL(cuLibraryLoadData, 0, &library, "code", NULL, NULL, 0u, NULL, NULL, 0u);
  CALL(cuLibraryGetKernel, 0, &second, library, "matmul<float, \"<script>\">");
  for (int i = 0; i < 23; ++i)
    CALL(cuLaunchKernel, 0, first, 3u, 2u, 1u, 32u, 4u, 1u, 16u, stream, arguments, NULL);
  config.stream = stream;
  for (int i = 0; i < 9; ++i) CALL(cuLaunchKernelEx, 0, &config, second, arguments, NULL);
  for (int i = 0; i < 2; ++i)
    CALL(cuLaunchCooperativeKernel, 0, (W) "unseen_kernel", 1u, 1u, 1u, 8u, 8u, 1u, 0u, stream,
         arguments);
  check(sum == 23 * (768 + 16) + 9 * (256 + 64) + 2 * 64, "arguments of kernels were lost");
  check(TRY_CALL(cuLaunchKernel, 0, (W)0, 1u, 1u, 1u, 1u, 1u, 1u, 0u, stream, NULL, NULL) == 400,
        "a kernel of nothing");
  CALL(cuLaunchHostFunc, 0, stream, nothing, &called);
  CALL(cuGraphCreate, 0, &graph, 0u);
  CALL(cuGraphInstantiateWithFlags, 0, &ready, graph, 0ul);
  for (int i = 0; i < 4; ++i) CALL(cuGraphLaunch, 0, ready, stream);
  CALL(cuModuleUnload, 0, module);
  check(called == 1, "the host function was not called");
}

static void* work(void* context) {
  W stream, event;
  CALL(cuCtxSetCurrent, 0, (W)context);
  CALL(cuStreamCreate, 0, &stream, 0u);
  CALL(cuEventCreate, 0, &event, 0u);
  memory(stream);
  copies(stream);
  launches(stream);
  CALL(cuEventRecord, 0, event, stream);
  CALL(cuEventSynchronize, 0, event);
  CALL(cuStreamSynchronize, 0, stream);
  CALL(cuEventDestroy, 0, event);
  CALL(cuStreamDestroy, 0, stream);
  return NULL;
}

static void run(int threads) {
  pthread_t list[256];
  W context = 0, primary = 0, kept;
  int device = 9;
  CALL(cuInit, 0, 0u);
  CALL(cuDeviceGet, 0, &device, 1);
  CALL(cuCtxCreate, 0, &context, 0u, 0);
  for (int i = 1; i < threads; ++i)
    check(pthread_create(&list[i], NULL, work, (void*)context) == 0, "no thread");
  work((void*)context);
  for (int i = 1; i < threads; ++i) pthread_join(list[i], NULL);
  CALL(cuMemAlloc, 5003, &kept, (size_t)5003); /* goes with the context */
  CALL(cuCtxDestroy, 0, context);
  CALL(cuDevicePrimaryCtxRetain, 0, &primary, 1);
  CALL(cuCtxSetCurrent, 0, primary);
  CALL(cuMemAlloc, 6007, &kept, (size_t)6007);
  CALL(cuCtxSynchronize, 0, 0);
  CALL(cuDevicePrimaryCtxReset, 0, 1);
}

int main(int argc, char** argv) {
  const char* end = argc > 4 ? argv[4] : "exit";
  find(argc > 1 ? argv[1] : "dlsym", argc > 2 && strcmp(argv[2], "ptds") == 0);
  const int threads = argc > 3 ? atoi(argv[3]) : 1;
  run(threads);
  if (strcmp(end, "fork") == 0) {
    write_tally();
    memset(tally, 0, sizeof tally);
    const pid_t child = fork();
    if (child == 0) {
      run(threads);
      write_tally();
      _exit(7);
    }
    int status = 0;
    check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "the child");
    run(threads);
  }
  W left;
  if (strcmp(end, "leak") == 0) {
    W context;
    CALL(cuCtxCreate, 0, &context, 0u, 1);
    CALL(cuMemAlloc, 1234, &left, (size_t)1234);
  }
  write_tally();
  if (strcmp(end, "_exit") == 0) _exit(7);
  if (strcmp(end, "abort") == 0) abort();
  if (strcmp(end, "kill") == 0) raise(SIGKILL);
  if (strcmp(end, "term") == 0) raise(SIGTERM);
  if (strcmp(end, "segv") == 0) raise(SIGSEGV);
  if (strcmp(end, "exec") == 0) execlp("sh", "sh", "-c", "exit 7", (char*)NULL);
  return 7;
}
