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
#include "inject/core/sandbox.h"
#include "inject/core/text.h"
#include "inject/cuda/driver.h"
#include "inject/cuda/mix.h"

enum { kCopy = 1, kSet = 2, kKernel = 3, kConcurrentKernel = 10 };
enum { kUsualBytes = 1 << 20, kMostBuffers = 64, kLongestName = 2048 };
/* Attributes of CUPTI. */
enum { kZeroedBuffers = 5, kHostPinned = 8, kPerThreadBuffers = 9, kAttributes = 16 };
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
  uint64_t unread[4];
  uint64_t graph_node; /* 0: it was launched by itself */
};
struct MoveRecord { /* a copy; of a set, what stands here as its kind is its value */
  uint32_t kind;
  uint8_t direction, from, to, flags;
  uint64_t bytes, start_ns, end_ns;
  uint32_t device, context, stream, correlation;
};
_Static_assert(offsetof(struct KernelRecord, name) == 104, "as CUPTI has it");
_Static_assert(offsetof(struct KernelRecord, graph_node) == 144, "as CUPTI has it");
_Static_assert(offsetof(struct MoveRecord, correlation) == 44, "as CUPTI has it");

static struct {
  int (*register_callbacks)(void*, void*);
  int (*enable)(uint32_t kind);
  int (*next_record)(uint8_t* buffer, size_t bytes, void** record);
  int (*flush)(uint32_t flags);
  int (*timestamp)(uint64_t* ns);
  int (*set_attribute)(uint32_t attribute, size_t* bytes, void* value); /* NULL: none can be set */
  int (*set_period)(uint32_t ms);                                       /* NULL: none, too */
} cupti;
static uint8_t* buffers[kMostBuffers]; /* that nobody uses; NULL: none */
static size_t buffer_bytes = kUsualBytes;
static bool throws_away;  /* what CUPTI says, to tell its cost from ours */
static bool moves = true; /* copies and sets are recorded, too */

static void buffer_wanted(uint8_t** buffer, size_t* bytes, size_t* most_records) {
  *most_records = 0;
  *bytes = buffer_bytes;
  *buffer = NULL;
  for (int i = 0; i < kMostBuffers && *buffer == NULL; ++i)
    *buffer = __atomic_exchange_n(&buffers[i], NULL, __ATOMIC_ACQUIRE);
  if (*buffer != NULL) return;
  if (work_begin(&fathom_thread)) {
    const long at = raw_call(SYS_mmap, 0, (long)buffer_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *buffer = at < 0 && at > -4096 ? NULL : (uint8_t*)at;
    work_end();
  }
  if (*buffer == NULL) *bytes = 0;
}

/* Empty again: CUPTI need not do it while the program waits. */
static void keep_buffer(uint8_t* buffer, size_t used) {
  memset(buffer, 0, used);
  for (int i = 0; i < kMostBuffers; ++i) {
    uint8_t* empty = NULL;
    if (__atomic_compare_exchange_n(&buffers[i], &empty, buffer, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED))
      return;
  }
  if (!work_begin(&fathom_thread)) return;
  raw_call(SYS_munmap, (long)buffer, (long)buffer_bytes, 0, 0, 0, 0);
  work_end();
}

/* The same moment on both clocks. */
struct Moment {
  uint64_t ns, ticks;
};
/* A thread that is stopped between two looks knows it by how long they took, and looks again. */
static bool look_at_clocks(struct Moment* now) {
  enum { kTries = 5 };
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    uint64_t ns = 0;
    const uint64_t from = ticks_now();
    if (cupti.timestamp(&ns) != 0) return false;
    const uint64_t took = ticks_now() - from;
    if (took >= least) continue;
    least = took;
    *now = (struct Moment){ns, from + took / 2};
  }
  return true;
}
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
                         uint64_t end_ns, uint32_t text, int64_t value, uint32_t flags) {
  struct Call call;
  if (!call_begin(&call, site)) return;
  call.start_ticks = ticks_at(now, start_ns);
  call.end_ticks = call.start_ticks + fathom_core.cost_ticks +
                   ticks_of(end_ns > start_ns ? end_ns - start_ns : 0);
  call_end(&call, site, text, value, flags, 0);
}

static uint32_t new_kernel_text(const struct KernelRecord* kernel, const char* of, size_t length) {
  char name[kLongestName + 256];
  struct Text text = text_in(name, sizeof name);
  put_bytes(&text, of, length);
  put_part(&text, "\tdevice=", kernel->device);
  put_part(&text, "\tstream=", kernel->stream);
  put_part(&text, "\tgrid=", kernel->shape[0]);
  put_part(&text, "x", kernel->shape[1]);
  put_part(&text, "x", kernel->shape[2]);
  put_part(&text, "\tblock=", kernel->shape[3]);
  put_part(&text, "x", kernel->shape[4]);
  put_part(&text, "x", kernel->shape[5]);
  put_part(&text, "\tregisters=", kernel->registers);
  return file_named(name, (size_t)(text.at - name));
}

/* Threads of the program may be who hands a buffer over, and wait meanwhile. */
static uint32_t kernel_text(const struct KernelRecord* kernel) {
  enum { kTexts = 4096 };
  static uint64_t texts[kTexts];
  uint64_t shape[3];
  const char* of = kernel->name != NULL ? kernel->name : "?";
  const size_t length = strnlen(of, kLongestName);
  memcpy(shape, kernel->shape, sizeof shape);
  const uint64_t where = (uint64_t)kernel->device << 32 | kernel->stream;
  const uint64_t hash = mix(mix_text(of, length) + mix(shape[0], shape[1] + 1),
                            mix(shape[2], where) + kernel->registers);
  uint64_t* slot = &texts[hash % kTexts];
  uint32_t text = text_in_slot(slot, hash);
  if (unlikely(text == 0)) {
    text = new_kernel_text(kernel, of, length);
    put_in_slot(slot, hash, text);
  }
  return text;
}

static void add_kernel(const struct KernelRecord* kernel, const struct Moment* now) {
  const int64_t in_graph = kernel->graph_node != 0 ? (int64_t)1 << 32 : 0;
  write_record(&site_gpu_kernel, now, kernel->start_ns, kernel->end_ns, kernel_text(kernel),
               (int64_t)kernel->correlation | in_graph, 0);
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
  write_record(is_copy ? &site_gpu_copy : &site_gpu_set, now, move->start_ns, move->end_ns,
               file_named(name, (size_t)(text.at - name)), (int64_t)move->bytes, kCallHasBytes);
}

static void buffer_filled(void* context, uint32_t stream, uint8_t* buffer, size_t bytes,
                          size_t valid) {
  (void)context, (void)stream;
  struct Moment now;
  void* record = NULL;
  if (buffer == NULL) return;
  if (!throws_away && look_at_clocks(&now)) {
    while (cupti.next_record(buffer, valid, &record) == 0 && record != NULL) {
      const uint32_t kind = *(const uint32_t*)record;
      if (kind == kKernel || kind == kConcurrentKernel) add_kernel(record, &now);
      if (kind == kCopy || kind == kSet) add_move(record, &now);
    }
  }
  keep_buffer(buffer, bytes);
}

/* Runs before CUPTI's own end, which was there first. */
static void flush_at_exit(void) {
  enum { kForced = 1 };
  if (!is_sandboxed(&fathom_thread) && fathom_core.pid == raw_getpid()) (void)cupti.flush(kForced);
}

static uint32_t is_on;
void gpu_times_flush(void) {
  if (unlikely(__atomic_load_n(&is_on, __ATOMIC_ACQUIRE)) && !is_sandboxed(&fathom_thread) &&
      fathom_core.pid == raw_getpid())
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

static void set_attribute(uint32_t attribute, uint64_t value) {
  const bool is_byte =
      attribute == kZeroedBuffers || attribute == kHostPinned || attribute == kPerThreadBuffers;
  size_t bytes = is_byte ? 1 : sizeof(size_t);
  if (cupti.set_attribute != NULL) (void)cupti.set_attribute(attribute, &bytes, &value);
}

/* NUMBER=VALUE,... in FATHOM_CUPTI, for measurements: attributes of CUPTI by their numbers, 100 the
 * bytes of a buffer, 101 whether what comes is thrown away, 102 whether copies and sets are wanted,
 * 103 after how many ms what is there is handed over. */
static void set_up(void) {
  enum { kBytesOfBuffer = 100, kThrowAway = 101, kMoves = 102, kPeriod = 103 };
  set_attribute(kZeroedBuffers, 1);
  set_attribute(kPerThreadBuffers, 1);
  for (const char* at = setting("FATHOM_CUPTI"); at != NULL && *at != 0;) {
    const char* sign = strchr(at, '=');
    if (sign == NULL) return;
    const uint64_t key = number_in(at), value = number_in(sign + 1);
    if (key < kAttributes) set_attribute((uint32_t)key, value);
    if (key == kBytesOfBuffer && value >= 4096 && value <= 1u << 30) buffer_bytes = value;
    if (key == kThrowAway) throws_away = value != 0;
    if (key == kMoves) moves = value != 0;
    if (key == kPeriod && cupti.set_period != NULL) (void)cupti.set_period((uint32_t)value);
    at = strchr(sign, ',');
    if (at != NULL) ++at;
  }
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
  *(void**)&cupti.set_attribute = find(library, "cuptiActivitySetAttribute");
  *(void**)&cupti.set_period = find(library, "cuptiActivityFlushPeriod");
  if (cupti.register_callbacks == NULL || cupti.enable == NULL || cupti.next_record == NULL ||
      cupti.flush == NULL || cupti.timestamp == NULL)
    return "libcupti.so is not one that we know";
  set_up();
  if (cupti.register_callbacks((void*)buffer_wanted, (void*)buffer_filled) != 0 ||
      cupti.enable(kConcurrentKernel) != 0 ||
      (moves && (cupti.enable(kCopy) != 0 || cupti.enable(kSet) != 0)))
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
