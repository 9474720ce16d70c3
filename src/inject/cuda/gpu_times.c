/* SPDX-License-Identifier: Apache-2.0
 * CUPTI fills buffers of ours with records of what ran on the device, and hands them back on a
 * thread of its own. Layouts are those from CUDA 11 on, of which only the first fields are read. */
#include "inject/cuda/gpu_times.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "inject/core/files.h"
#include "inject/core/raw.h"
#include "inject/core/real.h"
#include "inject/core/text.h"
#include "inject/cuda/driver.h"

enum { kCopy = 1, kSet = 2, kKernel = 3, kConcurrentKernel = 10 };
enum { kBufferBytes = 1 << 20, kMostBuffers = 64, kLongestName = 2048 };
CALL_SITE(gpu_kernel);
CALL_SITE(gpu_copy);
CALL_SITE(gpu_set);
CALL_SITE(gpu_times_missing);

struct KernelRecord {
  uint32_t kind;
  uint8_t caches[2];
  uint16_t registers;
  uint32_t partitioned[2];
  uint64_t start_ns, end_ns, completed_ns;
  uint32_t device, context, stream;
  uint32_t shape[6];
  uint32_t static_shared, dynamic_shared, local, local_total;
  uint32_t correlation;
  int64_t grid_id;
  const char* name;
};
struct MoveRecord { /* a copy; of a set, what stands here as its kind is its value */
  uint32_t kind;
  uint8_t direction, from, to, flags;
  uint64_t bytes, start_ns, end_ns;
  uint32_t device, context, stream, correlation;
};
_Static_assert(offsetof(struct KernelRecord, name) == 104, "as CUPTI has it");
_Static_assert(offsetof(struct MoveRecord, correlation) == 44, "as CUPTI has it");

static struct {
  int (*register_callbacks)(void*, void*);
  int (*enable)(uint32_t kind);
  int (*next_record)(uint8_t* buffer, size_t bytes, void** record);
  int (*flush)(uint32_t flags);
  int (*timestamp)(uint64_t* ns);
} cupti;
static uint8_t* buffers[kMostBuffers]; /* that nobody uses; NULL: none */

static void buffer_wanted(uint8_t** buffer, size_t* bytes, size_t* most_records) {
  *most_records = 0;
  *bytes = kBufferBytes;
  *buffer = NULL;
  for (int i = 0; i < kMostBuffers && *buffer == NULL; ++i)
    *buffer = __atomic_exchange_n(&buffers[i], NULL, __ATOMIC_ACQUIRE);
  if (*buffer != NULL) return;
  const long at = raw_call(SYS_mmap, 0, kBufferBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *buffer = at < 0 && at > -4096 ? NULL : (uint8_t*)at;
  if (*buffer == NULL) *bytes = 0;
}

static void keep_buffer(uint8_t* buffer) {
  for (int i = 0; i < kMostBuffers; ++i) {
    uint8_t* empty = NULL;
    if (__atomic_compare_exchange_n(&buffers[i], &empty, buffer, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED))
      return;
  }
  raw_call(SYS_munmap, (long)buffer, kBufferBytes, 0, 0, 0, 0);
}

/* The same moment on both clocks. */
struct Moment {
  uint64_t ns, ticks;
};
static uint64_t ticks_of(uint64_t ns) {
  const uint64_t rate = fathom_core.header->ticks_per_ns_32;
  return (uint64_t)(((unsigned __int128)ns * rate) >> 32);
}
static uint64_t ticks_at(const struct Moment* now, uint64_t ns) {
  return ns <= now->ns ? now->ticks - ticks_of(now->ns - ns) : now->ticks + ticks_of(ns - now->ns);
}

static void put_part(struct Text* text, const char* key, uint64_t value) {
  put(text, key);
  put_number(text, value);
}

static void write_record(struct CallSite* site, const struct Moment* now, uint64_t start_ns,
                         uint64_t end_ns, const struct Text* text, const char* name,
                         const uint64_t* bytes) {
  struct Call call;
  if (!call_begin(&call, site)) return;
  call.start_ticks = ticks_at(now, start_ns);
  call.end_ticks = call.start_ticks + fathom_core.cost_ticks +
                   ticks_of(end_ns > start_ns ? end_ns - start_ns : 0);
  call_end(&call, site, file_named(name, (size_t)(text->at - name)),
           bytes != NULL ? (int64_t)*bytes : 0, bytes != NULL ? kCallHasBytes : 0, 0);
}

static void add_kernel(const struct KernelRecord* kernel, const struct Moment* now) {
  char name[kLongestName + 256];
  struct Text text = text_in(name, sizeof name);
  const char* of = kernel->name != NULL ? kernel->name : "?";
  put_bytes(&text, of, strnlen(of, kLongestName));
  put_part(&text, "\tdevice=", kernel->device);
  put_part(&text, "\tstream=", kernel->stream);
  put_part(&text, "\tgrid=", kernel->shape[0]);
  put_part(&text, "x", kernel->shape[1]);
  put_part(&text, "x", kernel->shape[2]);
  put_part(&text, "\tblock=", kernel->shape[3]);
  put_part(&text, "x", kernel->shape[4]);
  put_part(&text, "x", kernel->shape[5]);
  put_part(&text, "\tregisters=", kernel->registers);
  write_record(&site_gpu_kernel, now, kernel->start_ns, kernel->end_ns, &text, name, NULL);
}

static void add_move(const struct MoveRecord* move, const struct Moment* now) {
  static const char* const kWays[] = {"copy",
                                      "host to device",
                                      "device to host",
                                      "host to device",
                                      "device to host",
                                      "device to device",
                                      "device to device",
                                      "device to device",
                                      "device to device",
                                      "host to host",
                                      "device to device"};
  const bool is_copy = move->kind == kCopy;
  char name[128];
  struct Text text = text_in(name, sizeof name);
  const uint32_t way = move->direction < sizeof kWays / sizeof *kWays ? move->direction : 0;
  put(&text, is_copy ? kWays[way] : "set");
  put_part(&text, "\tdevice=", move->device);
  put_part(&text, "\tstream=", move->stream);
  write_record(is_copy ? &site_gpu_copy : &site_gpu_set, now, move->start_ns, move->end_ns, &text,
               name, &move->bytes);
}

static void buffer_filled(void* context, uint32_t stream, uint8_t* buffer, size_t bytes,
                          size_t valid) {
  (void)context, (void)stream, (void)bytes;
  struct Moment now = {0, 0};
  void* record = NULL;
  if (buffer == NULL) return;
  if (cupti.timestamp(&now.ns) == 0) {
    now.ticks = ticks_now();
    while (cupti.next_record(buffer, valid, &record) == 0 && record != NULL) {
      const uint32_t kind = *(const uint32_t*)record;
      if (kind == kKernel || kind == kConcurrentKernel) add_kernel(record, &now);
      if (kind == kCopy || kind == kSet) add_move(record, &now);
    }
  }
  keep_buffer(buffer);
}

/* Runs before CUPTI's own end, which was there first. */
static void flush_at_exit(void) {
  enum { kForced = 1 };
  if (fathom_core.pid == raw_getpid()) (void)cupti.flush(kForced);
}

static uint32_t is_on;
void gpu_times_flush(void) {
  if (unlikely(__atomic_load_n(&is_on, __ATOMIC_ACQUIRE)) && fathom_core.pid == raw_getpid())
    (void)cupti.flush(0);
}

static void* open_cupti(void) {
  static const char* const kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                       "libcupti.so"};
  void* (*open)(const char*, int) = (void* (*)(const char*, int))find_next_function("dlopen");
  void* library = NULL;
  for (size_t i = 0; open != NULL && library == NULL && i < sizeof kNames / sizeof *kNames; ++i)
    library = open(kNames[i], 0x2 /* RTLD_NOW */);
  return library;
}

static const char* start_cupti(void) {
  typedef void* DlsymFunction(void* handle, const char* name);
  DlsymFunction* find = (DlsymFunction*)find_next_function("dlsym");
  void* library = find != NULL ? open_cupti() : NULL;
  if (library == NULL) return "libcupti.so is not here";
  *(void**)&cupti.register_callbacks = find(library, "cuptiActivityRegisterCallbacks");
  *(void**)&cupti.enable = find(library, "cuptiActivityEnable");
  *(void**)&cupti.next_record = find(library, "cuptiActivityGetNextRecord");
  *(void**)&cupti.flush = find(library, "cuptiActivityFlushAll");
  *(void**)&cupti.timestamp = find(library, "cuptiGetTimestamp");
  if (cupti.register_callbacks == NULL || cupti.enable == NULL || cupti.next_record == NULL ||
      cupti.flush == NULL || cupti.timestamp == NULL)
    return "libcupti.so is not one that we know";
  if (cupti.register_callbacks((void*)buffer_wanted, (void*)buffer_filled) != 0 ||
      cupti.enable(kConcurrentKernel) != 0 || cupti.enable(kCopy) != 0 || cupti.enable(kSet) != 0)
    return "CUPTI does not start: another profiler may be using it";
  (void)atexit(flush_at_exit);
  __atomic_store_n(&is_on, 1, __ATOMIC_RELEASE);
  return NULL;
}

void gpu_times_start(void) {
  static uint32_t started;
  if (__atomic_exchange_n(&started, 1, __ATOMIC_RELAXED) != 0) return;
  const char* wanted = setting("FATHOM_GPU_TIMES_CUDA");
  if (wanted == NULL || *wanted != '1' || fathom_core.state != kCoreOn) return;
  const char* why = start_cupti();
  if (why != NULL) driver_note(&site_gpu_times_missing, 0, why, 0);
}
