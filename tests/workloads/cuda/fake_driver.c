/* SPDX-License-Identifier: Apache-2.0
 * A libcuda.so.1 without a GPU, for tests: memory is the host's, kernels do nothing. It has the
 * names, ABI versions, per-thread-stream forms and rules of cuGetProcAddress of a real driver as
 * far as tests use them. FAKE_CUDA_INNER=1: cuGetProcAddress answers with other addresses than
 * those that are exported. Freed or foreign memory is refused, so that a wrong order of calls is
 * seen. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uintptr_t W;
enum { kInvalid = 1, kNotInitialized = 3, kNotFound = 500, kMost = 1 << 16 };

/* When work was last asked of the device, by the wall clock: that is when the fake CUPTI, which
 * sets `wanted`, lets it begin. */
struct Asked {
  uint64_t wanted, kernel_ns, graph_ns, copy_ns, set_ns;
} fake_asked;
static void ask(uint64_t* at_ns) {
  struct timespec now;
  if (!__atomic_load_n(&fake_asked.wanted, __ATOMIC_RELAXED)) return;
  clock_gettime(CLOCK_REALTIME, &now);
  __atomic_store_n(at_ns, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
                   __ATOMIC_RELAXED);
}

static int initialized;
static __thread W current[8];
static __thread int depth;
static uint32_t primary_uses[2];
enum { kPrimary = 0xc0de0, kOther = 0xc0ffe0 };

/* What is allocated, of any kind. */
static struct {
  W at;
  char* kept;
} blocks[kMost];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int take(W* to, size_t bytes) {
  int result = 2;
  if (to == NULL || !initialized) return initialized ? kInvalid : kNotInitialized;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < kMost && result != 0; ++i) {
    if (blocks[i].at != 0) continue;
    blocks[i].kept = calloc(1, bytes + 512);
    *to = blocks[i].at = ((W)blocks[i].kept + 255) & ~(W)255;
    result = 0;
  }
  pthread_mutex_unlock(&lock);
  return result;
}
static int give(W at) {
  int result = at == 0 ? 0 : kInvalid;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < kMost && at != 0 && result != 0; ++i) {
    if (blocks[i].at != at) continue;
    free(blocks[i].kept);
    blocks[i].at = 0;
    result = 0;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

#define BOTH(name, form, parameters, ...) \
  int name parameters { __VA_ARGS__ }     \
  int name##form parameters { __VA_ARGS__ }

int cuInit(unsigned flags) { return flags == 0 ? (initialized = 1, 0) : kInvalid; }
int cuDriverGetVersion(int* to) { return *to = 12040, 0; }
int cuDeviceGet(int* to, int n) { return n < 2 ? (*to = n, 0) : 101; }
int cuDeviceGetCount(int* to) { return *to = 2, 0; }
int cuDevicePrimaryCtxRetain(W* to, int device) {
  return *to = (W)(kPrimary + device), ++primary_uses[device], 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) { return --primary_uses[device], 0; }
int cuDevicePrimaryCtxReset_v2(int device) { return primary_uses[device] = 0, 0; }
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = primary_uses[device] != 0;
  return 0;
}
int cuCtxCreate_v2(W* to, unsigned flags, int device) {
  (void)flags;
  if (!initialized) return kNotInitialized;
  *to = current[depth++] = (W)(kOther + device);
  return 0;
}
int cuCtxDestroy_v2(W context) { return context != 0 ? (depth = 0, 0) : kInvalid; }
int cuCtxSetCurrent(W context) { return depth = 1, current[0] = context, 0; }
int cuCtxPushCurrent_v2(W context) { return current[depth++] = context, 0; }
int cuCtxPopCurrent_v2(W* to) { return *to = current[--depth], 0; }
int cuCtxGetCurrent(W* to) { return *to = depth > 0 ? current[depth - 1] : 0, 0; }
int cuCtxGetDevice(int* to) {
  if (depth == 0) return 201;
  *to = (int)(current[depth - 1] & 1);
  return 0;
}
int cuDeviceGetAttribute(int* to, unsigned attribute, int device) {
  return (void)device, attribute < 200 ? (*to = 1024, 0) : kInvalid;
}
int cuCtxSynchronize(void) { return 0; }

int cuModuleLoadData(W* to, const void* image) { return *to = (W)image | 1, 0; }
int cuModuleUnload(W module) { return module != 0 ? 0 : kInvalid; }
static char* remember(const char* name) { return strdup(name); }
int cuModuleGetFunction(W* to, W module, const char* name) {
  return (void)module, *to = (W)remember(name), 0;
}
int cuLibraryLoadData(W* to, const void* code) { return *to = (W)code | 1, 0; }
int cuLibraryGetKernel(W* to, W library, const char* name) {
  return (void)library, *to = (W)remember(name), 0;
}
/* A handle that the program made without looking it up, as export tables do. */
int cuFuncGetName(const char** to, W function) { return *to = (const char*)function, 0; }

int cuMemAlloc_v2(W* to, size_t bytes) { return bytes == 0 ? kInvalid : take(to, bytes); }
int cuMemAllocPitch_v2(W* to, size_t* pitch, size_t width, size_t height, unsigned element) {
  (void)element;
  *pitch = (width + 511) / 512 * 512;
  return take(to, *pitch * height);
}
int cuMemAllocManaged(W* to, size_t bytes, unsigned flags) { return (void)flags, take(to, bytes); }
BOTH(cuMemAllocAsync, _ptsz, (W * to, size_t bytes, W stream), (void)stream;
     return take(to, bytes);)
BOTH(cuMemAllocFromPoolAsync, _ptsz, (W * to, size_t bytes, W pool, W stream), (void)stream;
     (void)pool; return take(to, bytes);)
int cuMemFree_v2(W at) { return give(at); }
BOTH(cuMemFreeAsync, _ptsz, (W at, W stream), (void)stream; return give(at);)
int cuMemHostAlloc(W* to, size_t bytes, unsigned flags) { return (void)flags, take(to, bytes); }
int cuMemFreeHost(W at) { return give(at); }
int cuArrayCreate_v2(W* to, const void* shape) { return (void)shape, take(to, 16); }
int cuArrayDestroy(W at) { return give(at); }
int cuMemCreate(W* to, size_t bytes, const void* where, unsigned long flags) {
  return (void)bytes, (void)where, (void)flags, take(to, 16);
}
/* A handle is where its further references are counted. */
int cuMemRelease(W handle) { return *(int*)handle > 0 ? (--*(int*)handle, 0) : give(handle); }
int cuMemRetainAllocationHandle(W* to, W address) { return *to = *(W*)address, ++*(int*)*to, 0; }
int cuMemAddressReserve(W* to, size_t bytes, size_t alignment, W at, unsigned long flags) {
  return (void)alignment, (void)at, (void)flags, take(to, bytes);
}
int cuMemAddressFree(W at, size_t bytes) { return (void)bytes, give(at); }
int cuMemMap(W at, size_t bytes, size_t offset, W handle, unsigned long flags) {
  (void)bytes, (void)offset, (void)flags;
  *(W*)at = handle;
  return 0;
}
int cuMemUnmap(W at, size_t bytes) { return (void)at, (void)bytes, 0; }
int cuPointerGetAttribute(uint32_t* to, int attribute, W at) {
  int found = 0;
  if (attribute != 2) return kInvalid;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < kMost && !found; ++i) found = blocks[i].at == at;
  pthread_mutex_unlock(&lock);
  return found ? (*to = 2, 0) : kInvalid;
}

static int move(W to, W from, size_t bytes) { return memmove((void*)to, (void*)from, bytes), 0; }
BOTH(cuMemcpy, _ptds, (W to, W from, size_t bytes), return move(to, from, bytes);)
BOTH(cuMemcpyHtoD_v2, _ptds, (W to, W from, size_t bytes), ask(&fake_asked.copy_ns);
     return move(to, from, bytes);)
BOTH(cuMemcpyDtoH_v2, _ptds, (W to, W from, size_t bytes), return move(to, from, bytes);)
BOTH(cuMemcpyDtoD_v2, _ptds, (W to, W from, size_t bytes), return move(to, from, bytes);)
BOTH(cuMemcpyHtoDAsync_v2, _ptsz, (W to, W from, size_t bytes, W stream), (void)stream;
     return move(to, from, bytes);)
BOTH(cuMemcpyDtoHAsync_v2, _ptsz, (W to, W from, size_t bytes, W stream), (void)stream;
     return move(to, from, bytes);)
struct Copy2D {
  size_t x, y;
  unsigned type;
  W from[4];
  size_t to_x, to_y;
  unsigned to_type;
  W to[4];
  size_t width, height;
};
BOTH(cuMemcpy2D_v2, _ptds, (const struct Copy2D* copy), return copy->width > 0 ? 0 : kInvalid;)
BOTH(cuMemsetD8_v2, _ptds, (W at, unsigned char value, size_t count), ask(&fake_asked.set_ns);
     memset((void*)at, value, count); return 0;)
BOTH(cuMemsetD32Async, _ptsz, (W at, unsigned value, size_t count, W stream), (void)stream;
     for (size_t i = 0; i < count; ++i)((unsigned*)at)[i] = value; return 0;)

/* What a graph adds when it is launched: what was launched while it was captured. */
struct Graph {
  uint64_t* target;
  uint64_t sum;
};
static __thread struct Graph* captured;
enum { kEmptyGraph = 0x96a94 };

/* Arguments come through whole: a kernel's first is where it adds the product of its shape. */
static int launch(W kernel, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f,
                  unsigned shared, W stream, void** arguments) {
  (void)stream;
  if (kernel == 0) return 400;
  ask(&fake_asked.kernel_ns);
  const uint64_t sum = (uint64_t)a * b * c * d * e * f + shared;
  if (arguments == NULL) return 0;
  if (captured != NULL) {
    captured->target = *(uint64_t**)arguments[0];
    captured->sum += sum;
    return 0;
  }
  **(uint64_t**)arguments[0] += sum;
  return 0;
}
BOTH(cuLaunchKernel, _ptsz,
     (W kernel, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f,
      unsigned shared, W stream, void** arguments, void** extra),
     (void)extra;
     return launch(kernel, a, b, c, d, e, f, shared, stream, arguments);)
BOTH(cuLaunchCooperativeKernel, _ptsz,
     (W kernel, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f,
      unsigned shared, W stream, void** arguments),
     return launch(kernel, a, b, c, d, e, f, shared, stream, arguments);)
struct Config {
  unsigned shape[7];
  W stream;
  void* attributes;
  unsigned count;
};
BOTH(cuLaunchKernelEx, _ptsz,
     (const struct Config* config, W kernel, void** arguments, void** extra), (void)extra;
     const unsigned* n = config->shape;
     return launch(kernel, n[0], n[1], n[2], n[3], n[4], n[5], n[6], config->stream, arguments);)
BOTH(cuLaunchHostFunc, _ptsz, (W stream, void (*function)(void*), void* data), (void)stream;
     function(data); return 0;)
int cuGraphCreate(W* to, unsigned flags) { return (void)flags, *to = kEmptyGraph, 0; }
int cuGraphGetNodes(W graph, W* nodes, size_t* count) {
  (void)graph;
  for (size_t i = 0; nodes != NULL && i < *count && i < 5; ++i) nodes[i] = i + 1;
  *count = 5;
  return 0;
}
int cuGraphNodeGetType(W node, uint32_t* type) { return *type = node <= 3 ? 0 : 1, 0; }
int cuGraphInstantiateWithFlags(W* to, W graph, unsigned long flags) {
  return (void)flags, *to = graph + 16, 0;
}
static int launch_graph(W ready) {
  const struct Graph* graph = (const struct Graph*)(ready - 16);
  ask(&fake_asked.graph_ns);
  if (ready != kEmptyGraph + 16 && graph->target != NULL) *graph->target += graph->sum;
  return 0;
}
BOTH(cuGraphLaunch, _ptsz, (W ready, W stream), (void)stream; return launch_graph(ready);)
BOTH(cuStreamBeginCapture_v2, _ptsz, (W stream, int mode), (void)stream; (void)mode;
     captured = calloc(1, sizeof *captured); return 0;)
BOTH(cuStreamEndCapture, _ptsz, (W stream, W* to), (void)stream; *to = (W)captured; captured = NULL;
     return 0;)
BOTH(cuStreamIsCapturing, _ptsz, (W stream, int* to), (void)stream; *to = captured != NULL;
     return 0;)
int cuGraphExecDestroy(W ready) { return ready != 0 ? 0 : kInvalid; }
int cuGraphDestroy(W graph) {
  if (graph != kEmptyGraph) free((void*)graph);
  return 0;
}
int cuMemGetAllocationGranularity(size_t* to, const void* where, unsigned option) {
  return (void)where, (void)option, *to = 1 << 16, 0;
}
int cuMemSetAccess(W at, size_t bytes, const void* access, size_t count) {
  return (void)at, (void)bytes, (void)access, (void)count, 0;
}
int cuStreamCreate(W* to, unsigned flags) { return (void)flags, *to = 0x57ea0, 0; }
int cuStreamDestroy_v2(W stream) { return stream != 0 ? 0 : kInvalid; }
BOTH(cuStreamSynchronize, _ptsz, (W stream), (void)stream; return 0;)
int cuEventCreate(W* to, unsigned flags) { return (void)flags, *to = 0xe7e80, 0; }
int cuEventDestroy_v2(W event) { return event != 0 ? 0 : kInvalid; }
BOTH(cuEventRecord, _ptsz, (W event, W stream), (void)event; (void)stream; return 0;)
int cuEventSynchronize(W event) { return (void)event, 0; }
/* Of a driver that is newer than whoever stands before it. The second takes all that registers and
 * the stack can pass, and says whether it came as it was sent. */
int cuFromTheFuture_v7(int n) { return n + 1; }
double cuMuchFromTheFuture(double a, long b, float c, long d, double e, long f, double g, long h,
                           double i, long j, double k, long l, double m, double n, long o, long p) {
  return a + 2 * c + 4 * e + 8 * g + 16 * i + 32 * k + 64 * m + 128 * n +
         (double)(b + 3 * d + 9 * f + 27 * h + 81 * j + 243 * l + 729 * o + 2187 * p);
}
int cuDataOfTheFuture[2] = {6, 7}; /* no function */
int cuGetProcAddress(const char* name, void** to, int version, unsigned long flags);
int cuGetProcAddress_v2(const char* name, void** to, int version, unsigned long flags, int* status);

struct Entry {
  const char* name;
  int since;
  void *plain, *per_thread;
};
#define ONE(base, since, full) \
  { #base, since, (void*)full, (void*)full }
#define TWO(base, since, full, form) \
  { #base, since, (void*)full, (void*)full##form }
static const struct Entry kEntries[] = {
    ONE(cuInit, 2000, cuInit),
    ONE(cuDriverGetVersion, 2020, cuDriverGetVersion),
    ONE(cuDeviceGet, 2000, cuDeviceGet),
    ONE(cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain),
    ONE(cuDevicePrimaryCtxRelease, 11000, cuDevicePrimaryCtxRelease_v2),
    ONE(cuDevicePrimaryCtxReset, 11000, cuDevicePrimaryCtxReset_v2),
    ONE(cuCtxCreate, 3020, cuCtxCreate_v2),
    ONE(cuCtxDestroy, 4000, cuCtxDestroy_v2),
    ONE(cuCtxSetCurrent, 4000, cuCtxSetCurrent),
    ONE(cuCtxGetDevice, 2000, cuCtxGetDevice),
    ONE(cuCtxGetCurrent, 4000, cuCtxGetCurrent),
    ONE(cuDevicePrimaryCtxGetState, 7000, cuDevicePrimaryCtxGetState),
    ONE(cuDeviceGetAttribute, 2000, cuDeviceGetAttribute),
    TWO(cuStreamIsCapturing, 10000, cuStreamIsCapturing, _ptsz),
    ONE(cuCtxSynchronize, 2000, cuCtxSynchronize),
    ONE(cuModuleLoadData, 2000, cuModuleLoadData),
    ONE(cuModuleUnload, 2000, cuModuleUnload),
    ONE(cuModuleGetFunction, 2000, cuModuleGetFunction),
    ONE(cuLibraryLoadData, 12000, cuLibraryLoadData),
    ONE(cuLibraryGetKernel, 12000, cuLibraryGetKernel),
    ONE(cuMemAlloc, 3020, cuMemAlloc_v2),
    ONE(cuMemAllocPitch, 3020, cuMemAllocPitch_v2),
    ONE(cuMemAllocManaged, 6000, cuMemAllocManaged),
    TWO(cuMemAllocAsync, 11020, cuMemAllocAsync, _ptsz),
    TWO(cuMemAllocFromPoolAsync, 11020, cuMemAllocFromPoolAsync, _ptsz),
    ONE(cuMemFree, 3020, cuMemFree_v2),
    TWO(cuMemFreeAsync, 11020, cuMemFreeAsync, _ptsz),
    ONE(cuMemHostAlloc, 2020, cuMemHostAlloc),
    ONE(cuMemFreeHost, 2000, cuMemFreeHost),
    ONE(cuArrayCreate, 3020, cuArrayCreate_v2),
    ONE(cuArrayDestroy, 2000, cuArrayDestroy),
    ONE(cuMemCreate, 10020, cuMemCreate),
    ONE(cuMemRelease, 10020, cuMemRelease),
    ONE(cuMemRetainAllocationHandle, 11000, cuMemRetainAllocationHandle),
    ONE(cuMemAddressReserve, 10020, cuMemAddressReserve),
    ONE(cuMemAddressFree, 10020, cuMemAddressFree),
    ONE(cuMemMap, 10020, cuMemMap),
    ONE(cuMemUnmap, 10020, cuMemUnmap),
    TWO(cuMemcpy, 4000, cuMemcpy, _ptds),
    TWO(cuMemcpyHtoD, 3020, cuMemcpyHtoD_v2, _ptds),
    TWO(cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2, _ptds),
    TWO(cuMemcpyDtoD, 3020, cuMemcpyDtoD_v2, _ptds),
    TWO(cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2, _ptsz),
    TWO(cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2, _ptsz),
    TWO(cuMemcpy2D, 3020, cuMemcpy2D_v2, _ptds),
    TWO(cuMemsetD8, 3020, cuMemsetD8_v2, _ptds),
    TWO(cuMemsetD32Async, 3020, cuMemsetD32Async, _ptsz),
    TWO(cuLaunchKernel, 4000, cuLaunchKernel, _ptsz),
    TWO(cuLaunchKernelEx, 11060, cuLaunchKernelEx, _ptsz),
    TWO(cuLaunchCooperativeKernel, 9000, cuLaunchCooperativeKernel, _ptsz),
    TWO(cuLaunchHostFunc, 10000, cuLaunchHostFunc, _ptsz),
    ONE(cuGraphCreate, 10000, cuGraphCreate),
    TWO(cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2, _ptsz),
    TWO(cuStreamEndCapture, 10000, cuStreamEndCapture, _ptsz),
    ONE(cuGraphExecDestroy, 10000, cuGraphExecDestroy),
    ONE(cuGraphDestroy, 10000, cuGraphDestroy),
    ONE(cuMemGetAllocationGranularity, 10020, cuMemGetAllocationGranularity),
    ONE(cuMemSetAccess, 10020, cuMemSetAccess),
    ONE(cuGraphInstantiateWithFlags, 11040, cuGraphInstantiateWithFlags),
    ONE(cuGraphInstantiate, 12000, cuGraphInstantiateWithFlags),
    TWO(cuGraphLaunch, 10000, cuGraphLaunch, _ptsz),
    ONE(cuStreamCreate, 2000, cuStreamCreate),
    ONE(cuStreamDestroy, 4000, cuStreamDestroy_v2),
    TWO(cuStreamSynchronize, 2000, cuStreamSynchronize, _ptsz),
    ONE(cuEventCreate, 2000, cuEventCreate),
    ONE(cuEventDestroy, 4000, cuEventDestroy_v2),
    TWO(cuEventRecord, 2000, cuEventRecord, _ptsz),
    ONE(cuEventSynchronize, 2000, cuEventSynchronize),
    ONE(cuFromTheFuture, 12040, cuFromTheFuture_v7),
    ONE(cuMuchFromTheFuture, 12040, cuMuchFromTheFuture),
    ONE(cuGetProcAddress, 11030, cuGetProcAddress),
    ONE(cuGetProcAddress, 12000, cuGetProcAddress_v2),
};

#ifdef __x86_64__
/* Other addresses for the same functions: jumps. */
#include <sys/mman.h>
static void* inner(void* function) {
  static unsigned char* page;
  static int used;
  pthread_mutex_lock(&lock);
  if (page == NULL || used > 4080) {
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    used = 0;
  }
  unsigned char* at = page + used;
  used += 16;
  at[0] = 0x48, at[1] = 0xb8; /* movabs to rax; jmp rax */
  memcpy(at + 2, &function, 8);
  at[10] = 0xff, at[11] = 0xe0;
  pthread_mutex_unlock(&lock);
  return at;
}
#endif

static int look_up(const char* name, void** to, int version, unsigned long flags) {
  const struct Entry* best = NULL;
  for (size_t i = 0; i < sizeof kEntries / sizeof *kEntries; ++i)
    if (strcmp(kEntries[i].name, name) == 0 && kEntries[i].since <= version &&
        (best == NULL || kEntries[i].since > best->since))
      best = &kEntries[i];
  *to = best == NULL ? NULL : flags & 2 ? best->per_thread : best->plain;
  if (*to == NULL) return kNotFound;
#ifdef __x86_64__
  const char* wish = getenv("FAKE_CUDA_INNER");
  if (wish != NULL && *wish == '1') *to = inner(*to);
#endif
  return 0;
}
int cuGetProcAddress(const char* name, void** to, int version, unsigned long flags) {
  return look_up(name, to, version, flags);
}
int cuGetProcAddress_v2(const char* name, void** to, int version, unsigned long flags,
                        int* status) {
  const int result = look_up(name, to, version, flags);
  if (status != NULL) *status = result == 0 ? 0 : 1;
  return result;
}
