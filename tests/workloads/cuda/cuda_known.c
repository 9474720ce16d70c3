/* SPDX-License-Identifier: Apache-2.0
 * Known numbers of driver calls, found by a given way, in threads and processes that end in a given
 * one; what it called is added to ./tally (a line a function: name, calls, bytes, errors) by ways
 * that no library sees. Runs on a real driver and on the fake one, where more is known. With
 * -DDIRECT it is linked to libcuda itself.
 *
 *   cuda_known [dlsym|dlsym-default|proc|proc_v2] [plain|ptds] [THREADS]
 * [exit|_exit|abort|kill|term|handler|segv|fork|exec|leak|signals|wait] */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "known_calls.h"

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

/* Physical memory lives until it is released and unmapped, in whatever order. */
static void mappings(void) {
  W at[4];
  size_t part = 0;
  const struct Where where = {.type = 1, .location_type = 1};
  const struct Access access = {1, 0, 3};
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

static void memory(W stream) {
  W at[7];
  size_t pitch;
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
}

static void more_memory(W stream) {
  struct {
    size_t width, height;
    unsigned format, channels;
  } shape = {17, 5, 0x20, 2};
  W at;
  CALL(cuMemAllocFromPoolAsync, 2003, &at, (size_t)2003, (W)7, stream);
  CALL(cuMemFree, 2003, at);
  CALL(cuArrayCreate, 17 * 5 * 8, &at, &shape);
  CALL(cuArrayDestroy, 17 * 5 * 8, at);
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

static void more_copies(void) {
  struct {
    size_t x, y;
    unsigned type;
    W from[4];
    size_t to_x, to_y;
    unsigned to_type;
    W to[4];
    size_t width, height;
  } flat = {.type = 1, .to_type = 2, .width = 31, .height = 3};
  CALL(cuMemcpy2D, 93, &flat);
}

struct LaunchConfig {
  unsigned shape[7];
  W stream;
  void* attributes;
  unsigned count;
};

/* Each thread that runs adds one. */
static const char kPtx[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .entry fathom_add(.param .u64 where) {\n"
    "  .reg .u64 %rd<3>;\n  .reg .u32 %r<2>;\n"
    "  ld.param.u64 %rd1, [where];\n  cvta.to.global.u64 %rd2, %rd1;\n"
    "  atom.global.add.u32 %r1, [%rd2], 1;\n  ret;\n}\n";

static void launches(W stream) {
  struct LaunchConfig config = {{2, 1, 1, 128, 1, 1, 0}, stream, NULL, 0};
  W module, kernel, where, graph, ready;
  uint64_t sum = 0;
  void* arguments[] = {&where};
  CALL(cuModuleLoadData, 0, &module, kPtx);
  CALL(cuModuleGetFunction, 0, &kernel, module, "fathom_add");
  CALL(cuMemAlloc, 8, &where, (size_t)8);
  CALL(cuMemsetD32Async, 8, where, 0u, (size_t)2, stream);
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
  CALL(cuMemcpyDtoH, 8, &sum, where, (size_t)8);
  check(sum == 23 * 768 + 9 * 256 + 2 * 64 + 4 * 3 * 32, "kernels did something else");
  CALL(cuGraphExecDestroy, 0, ready);
  CALL(cuGraphDestroy, 0, graph);
  CALL(cuMemFree, 8, where);
  CALL(cuModuleUnload, 0, module);
}

static void nothing(void* data) { ++*(int*)data; }

/* Names that no compiler makes, handles that nobody looked up, and failures. */
static void more_launches(W stream) {
  struct LaunchConfig config = {{2, 1, 1, 128, 1, 1, 64}, stream, NULL, 0};
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

/* What only asks, as often as a framework does. */
static void questions(W stream, W context) {
  int device = 9, active = 9, capturing = 9, value = 0;
  unsigned flags;
  W now = 0;
  for (int i = 0; i < 301; ++i) CALL(cuCtxGetDevice, 0, &device);
  for (int i = 0; i < 57; ++i) CALL(cuCtxGetCurrent, 0, &now);
  for (int i = 0; i < 13; ++i) CALL(cuDevicePrimaryCtxGetState, 0, device, &flags, &active);
  for (int i = 0; i < 5; ++i) CALL(cuStreamIsCapturing, 0, stream, &capturing);
  for (int i = 0; i < 3; ++i) CALL(cuDeviceGetAttribute, 0, &value, 1u, device);
  check(TRY_CALL(cuDeviceGetAttribute, 0, &value, 0x7fffffffu, device) != 0, "no such attribute");
  check(now == context && capturing == 0 && value > 0, "an answer is wrong");
}

static void* work(void* context) {
  W stream, event;
  CALL(cuCtxSetCurrent, 0, (W)context);
  CALL(cuStreamCreate, 0, &stream, 1u);
  CALL(cuEventCreate, 0, &event, 0u);
  memory(stream);
  mappings();
  copies(stream);
  launches(stream);
  questions(stream, (W)context);
  call_future(19);
  if (is_fake) {
    more_memory(stream);
    more_copies();
    more_launches(stream);
  }
  CALL(cuEventRecord, 0, event, stream);
  CALL(cuEventSynchronize, 0, event);
  CALL(cuEventDestroy, 0, event);
  CALL(cuStreamDestroy, 0, stream);
  return NULL;
}

/* On two devices, one of which has a context of the program's own. */
static void more_contexts(void) {
  W context = 0, primary = 0, kept;
  int device = 9;
  CALL(cuDeviceGet, 0, &device, 1);
  CALL(cuCtxCreate, 0, &context, 0u, 0);
  work((void*)context);
  CALL(cuMemAlloc, 5003, &kept, (size_t)5003); /* goes with the context */
  CALL(cuCtxDestroy, 0, context);
  CALL(cuDevicePrimaryCtxRetain, 0, &primary, 1);
  CALL(cuCtxSetCurrent, 0, primary);
  CALL(cuMemAlloc, 6007, &kept, (size_t)6007);
  CALL(cuDevicePrimaryCtxReset, 0, 1);
}

static void run(int threads) {
  pthread_t list[256];
  W context = 0, kept;
  int device = 9;
  CALL(cuInit, 0, 0u);
  CALL(cuDeviceGet, 0, &device, 0);
  CALL(cuDevicePrimaryCtxRetain, 0, &context, device);
  for (int i = 1; i < threads; ++i)
    check(pthread_create(&list[i], NULL, work, (void*)context) == 0, "no thread");
  work((void*)context);
  for (int i = 1; i < threads; ++i) pthread_join(list[i], NULL);
  CALL(cuCtxSynchronize, 0, 0); /* not while a thread captures a stream: the driver refuses it */
  CALL(cuMemAlloc, 6007, &kept, (size_t)6007); /* goes with the context */
  CALL(cuDevicePrimaryCtxRelease, 0, device);
  if (is_fake) more_contexts();
}

static void run_child(int threads) {
  const pid_t child = fork();
  int status = 0;
  if (child == 0) {
    forget_tally();
    if (threads > 0) run(threads);
    write_tally();
    _exit(7);
  }
  check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "the child");
}

/* Questions from a handler that comes while its thread asks, too; and from forked children of it.
 */
static volatile int handled, forks_left;
static void asks(int signal) {
  int device, error = errno;
  (void)signal;
  ++handled;
  for (int i = 0; i < 3; ++i) CALL(cuCtxGetDevice, 0, &device);
  call_future(2);
  if (handled % 16 == 0 && forks_left > 0) {
    --forks_left;
    const pid_t child = fork();
    if (child == 0) {
      forget_tally();
      for (int i = 0; i < 5; ++i) CALL(cuCtxGetDevice, 0, &device);
      call_future(3);
      write_tally();
      _exit(7);
    }
    int status = 0;
    check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "the handler's child");
  }
  errno = error;
}

static void interrupted(void) {
  const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
  struct sigaction handler = {.sa_handler = asks};
  W context, stream = 0;
  int device;
  forks_left = 8;
  CALL(cuInit, 0, 0u);
  CALL(cuDevicePrimaryCtxRetain, 0, &context, 0);
  CALL(cuCtxSetCurrent, 0, context);
  sigaction(SIGALRM, &handler, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  while (handled < 400) {
    for (int i = 0; i < 200; ++i) CALL(cuCtxGetDevice, 0, &device);
    call_future(100);
    CALL(cuStreamSynchronize, 0, stream);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  for (int i = 0; i < 3; ++i) { /* what a vfork child asks is counted, and so is what comes after */
    const pid_t child = vfork();
    if (child == 0) {
      CALL(cuCtxGetDevice, 0, &device);
      _exit(7);
    }
    int status = 0;
    check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "the vfork child");
    CALL(cuCtxGetDevice, 0, &device);
  }
  CALL(cuDevicePrimaryCtxRelease, 0, 0);
}

static void own_handler(int signal) {
  (void)signal;
  write_tally();
  _exit(7);
}

/* Goes on until somebody makes a file. */
static void wait_for_file(void) {
  while (access("go", F_OK) != 0) {
    CALL(cuStreamSynchronize, 0, (W)0);
    usleep(1000);
  }
}

int main(int argc, char** argv) {
  const char* end = argc > 4 ? argv[4] : "exit";
  find(argc > 1 ? argv[1] : "dlsym", argc > 2 && strcmp(argv[2], "ptds") == 0);
  const int threads = argc > 3 ? atoi(argv[3]) : 1;
  const int forks = strcmp(end, "fork") == 0;
  if (strcmp(end, "handler") == 0) signal(SIGTERM, own_handler);
  if (forks) run_child(1); /* before cuInit: a child of a process with CUDA has none */
  if (strcmp(end, "signals") == 0)
    interrupted();
  else
    run(threads);
  if (forks) run_child(is_fake ? threads : 0);
  if (forks && is_fake) run(threads);
  if (strcmp(end, "leak") == 0) {
    W context, left;
    CALL(cuCtxCreate, 0, &context, 0u, 1);
    CALL(cuMemAlloc, 1234, &left, (size_t)1234);
  }
  if (strcmp(end, "wait") == 0) wait_for_file();
  if (strcmp(end, "handler") == 0) raise(SIGTERM);
  write_tally();
  if (strcmp(end, "_exit") == 0) _exit(7);
  if (strcmp(end, "abort") == 0) abort();
  if (strcmp(end, "kill") == 0) raise(SIGKILL);
  if (strcmp(end, "term") == 0) raise(SIGTERM);
  if (strcmp(end, "segv") == 0) raise(SIGSEGV);
  if (strcmp(end, "exec") == 0) execlp("sh", "sh", "-c", "exit 7", (char*)NULL);
  return 7;
}
