/* SPDX-License-Identifier: Apache-2.0
 * The first moment in a process: finds the real functions, reads the settings, makes the spool. */
#include <string.h>
#include <sys/mman.h>

#include "inject/core/call.h"
#include "inject/core/family.h"
#include "inject/core/raw.h"
#include "inject/core/real.h"
#include "inject/core/sandbox.h"
#include "inject/core/text.h"

enum { kWipeOnFork = 18 /* MADV_WIPEONFORK */, kUsualChunks = 2048 };
#define USUAL_INTERVAL_NS 1000000000u
#define CALIBRATION_NS 200000u

static uint64_t nobody[2];
struct Core fathom_core = {.epoch = nobody};
uint64_t fathom_mark;

extern char** __environ;
extern void* __libc_stack_end; /* where the loader found the number of arguments */

/* Sanitizers call us before the C library knows its environment. */
static char** environment(void) {
  if (__environ != NULL) return __environ;
  const long count = *(const long*)__libc_stack_end;
  char** arguments = (char**)__libc_stack_end + 1;
  return count >= 0 && arguments[count] == NULL ? arguments + count + 1 : NULL;
}

/* Of NAME=VALUE, if that is its name. Without the C library, which may not be ready, either. */
static const char* value_of(const char* name, const char* entry) {
  for (; *name != 0; ++name, ++entry)
    if (*entry != *name) return NULL;
  return *entry == '=' ? entry + 1 : NULL;
}

const char* setting(const char* name) {
  const char* value = NULL;
  for (char** at = environment(); value == NULL && at != NULL && *at != NULL; ++at)
    value = value_of(name, *at);
  return value;
}

void know_mark(void) {
  if (likely(fathom_core.state != kCoreNew)) return;
  const char* text = setting("FATHOM_MARK");
  if (text != NULL) fathom_mark = number_in(text);
}

/* What the recorder said to this library. */
static const char* own_setting(const char* name) {
  char full[64];
  struct Text text = text_in(full, sizeof full);
  put(&text, name);
  put(&text, fathom_family.suffix);
  return setting(full);
}

static uint64_t number_setting(const char* name, uint64_t usual) {
  const char* text = own_setting(name);
  const uint64_t number = text != NULL ? number_in(text) : 0;
  return number != 0 ? number : usual;
}

static void forked_child(void) { fathom_core.epoch[0] = fathom_core.epoch[1] = 0; }

/* A page that is empty in every forked child, by whatever call it was forked. */
static bool make_epoch(void) {
  const long page = map_apart(4096, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (page < 0 && page > -4096) return false;
  fathom_core.generation = ((volatile uint64_t*)page)[0] = 1;
  ((volatile uint64_t*)page)[1] = ++fathom_core.quick_number;
  if (raw_call(SYS_madvise, page, 4096, kWipeOnFork, 0, 0, 0) != 0 && !at_fork(forked_child))
    return false;
  fathom_core.pid = raw_getpid();
  __atomic_store_n(&fathom_core.epoch, (uint64_t*)page, __ATOMIC_RELEASE);
  return true;
}

static uint64_t ticks_in_2_32_ns(void) {
  if (fathom_core.clock != kClockTsc) return 1ull << 32;
  const uint64_t told = number_setting("FATHOM_TICKS", 0);
  if (told != 0) return told;
  const uint64_t from_ns = monotonic_ns(), from = read_tsc();
  uint64_t ns;
  while ((ns = monotonic_ns() - from_ns) < CALIBRATION_NS) {
  }
  return (uint64_t)(((unsigned __int128)(read_tsc() - from) << 32) / ns);
}

static uint64_t ns_to_ticks(uint64_t ns, uint64_t rate) {
  return (uint64_t)(((unsigned __int128)ns * rate) >> 32);
}

static void set_clock(struct SpoolHeader* header) {
  struct Core* core = &fathom_core;
  const uint64_t rate = header->ticks_per_ns_32 = ticks_in_2_32_ns();
  core->ns_per_tick_32 = (uint64_t)(((unsigned __int128)1 << 64) / rate);
  header->ns_at_load = header->ns_later = monotonic_ns();
  header->ticks_at_load = header->ticks_later = ticks_now();
  header->interval_ns = number_setting("FATHOM_INTERVAL_NS", USUAL_INTERVAL_NS);
  const uint64_t base_ns = number_setting("FATHOM_START_NS", header->ns_at_load);
  const uint64_t since = header->ns_at_load > base_ns ? header->ns_at_load - base_ns : 0;
  const uint64_t into_slice = since % header->interval_ns;
  header->slice_base_ns = header->ns_at_load - into_slice;
  core->slice_ticks = ns_to_ticks(header->interval_ns, rate);
  core->slice_base_ticks = header->ticks_at_load - ns_to_ticks(into_slice, rate);
}

static void measure_cost(void) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 16; ++i) {
    const uint64_t from = ticks_now();
    const uint64_t took = ticks_now() - from;
    if (took < least) least = took;
  }
  fathom_core.cost_ticks = least;
}

static void describe_process(struct SpoolHeader* header) {
  char link[64] = "";
  header->pid = fathom_core.pid;
  if (raw_readlink("/proc/self/ns/pid", link, sizeof link - 1) > 5)
    header->pid_namespace = number_in(link + 5); /* pid:[4026531836] */
  raw_readlink("/proc/self/exe", header->program, sizeof header->program - 1);
  struct Text family = text_in(header->family, sizeof header->family);
  put(&family, fathom_family.name);
  header->family_version = fathom_family.version;
}

static bool path_of_spool(char* path, size_t size, uint64_t now_ns) {
  const char* folder = own_setting("FATHOM_SPOOL");
  if (folder == NULL || *folder == 0) return fathom_family.alone(path, size);
  struct Text text = text_in(path, size);
  put(&text, folder);
  put(&text, "/");
  put(&text, fathom_family.name);
  put(&text, "-");
  put_number(&text, fathom_core.pid);
  put(&text, "-");
  put_number(&text, now_ns);
  put(&text, ".spool");
  return true;
}

static bool start(void) {
  find_real_functions();
  static struct SpoolHeader header; /* too large for a small stack */
  static char path[1104];
  fathom_core.clock = tsc_is_even() ? kClockTsc : kClockNs;
  fathom_core.pid = raw_getpid();
  if (!path_of_spool(path, sizeof path, monotonic_ns())) return false;
  const bool has_recorder = own_setting("FATHOM_SPOOL") != NULL;
  fathom_core.is_alone = !has_recorder;
  const char* mode = has_recorder ? own_setting("FATHOM_MODE") : NULL;
  fathom_core.trace = mode != NULL && strcmp(mode, "trace") == 0;
  header.flags =
      (fathom_core.clock == kClockTsc ? kSpoolTsc : 0u) | (fathom_core.trace ? kSpoolTrace : 0u);
  set_clock(&header);
  measure_cost();
  describe_process(&header);
  const uint64_t chunks = number_setting("FATHOM_CHUNKS", kUsualChunks);
  const uint32_t wanted = (uint32_t)(chunks < kSpoolMostChunks ? chunks : kSpoolMostChunks);
  if (mode != NULL && strcmp(mode, "count") == 0) {
    fathom_core.clock = kClockNone;
    fathom_core.slice_base_ticks = 0; /* all is one slice */
    fathom_core.slice_ticks = UINT64_MAX;
    header.flags |= kSpoolCount;
  }
  return spool_make(path, &header, wanted) && make_epoch();
}

/* A program that runs under a filter: a system call of ours could end it. Nothing here makes one,
 * so that signals cannot be held back; a handler that comes in between does the same. */
static void stay_off(void) {
  uint32_t state = kCoreNew;
  find_real_functions();
  fathom_family.started(false);
  __atomic_compare_exchange_n(&fathom_core.state, &state, kCoreOff, false, __ATOMIC_RELEASE,
                              __ATOMIC_RELAXED);
}

bool core_start(void) {
  uint32_t state = kCoreNew;
  know_mark();
  if (__atomic_load_n(&fathom_core.state, __ATOMIC_ACQUIRE) == kCoreNew && was_born_sandboxed())
    stay_off();
  if (__atomic_compare_exchange_n(&fathom_core.state, &state, kCoreStarting, false,
                                  __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
    const uint64_t mask = block_signals(); /* a handler would wait here for what it interrupted */
    const bool on = start();
    fathom_family.started(on);
    __atomic_store_n(&fathom_core.state, on ? kCoreOn : kCoreOff, __ATOMIC_RELEASE);
    set_signals(mask);
    return on;
  }
  while (state == kCoreStarting) { /* by another thread, which needs no lock for it */
    raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    state = __atomic_load_n(&fathom_core.state, __ATOMIC_ACQUIRE);
  }
  return state == kCoreOn;
}

/* Whatever we call may call a wrapped function, which must not wait for us. */
void start_guarded(void) {
  fathom_thread.attaching = 1;
  keep_order();
  (void)core_start();
  keep_order();
  fathom_thread.attaching = 0;
}

__attribute__((constructor)) static void load(void) { start_guarded(); }
