/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/cuda/alone.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "inject/core/raw.h"
#include "inject/core/text.h"
#include "inject/cuda/alone_lines.h"
#include "inject/cuda/driver.h"
#include "inject/cuda/log_text.h"
#include "inject/cuda/memory.h"
#include "inject/cuda/process.h"
#include "inject/cuda/stacks.h"
#include "inject/cuda/unknown.h"

enum { kMostDrivers = 640, kMetricsBytes = 131072, kLookEvery = 4096 };
#define FLUSH_NS 100000000u
#define CALIBRATION_NS 200000u

HOT_DATA uint32_t fathom_alone __attribute__((aligned(64))); /* the first there */

/* Many threads add to them at once, each to those of its stripe. The last stripe has whoever comes
 * after the others were taken; they are one thread's, also when that has ended. */
static struct { struct CallSum of[kMostDrivers]; } stripes[kStripes];

static struct {
  struct Gate gate;
  uint64_t process; /* whose sums these are; 0: nobody's */
  uint64_t ticks_per_ns_32, flush_ticks, next_flush;
  bool everything, ending;
} alone_log;

bool alone_begin(char* path, unsigned long size) {
  (void)path, (void)size;
  const char* wanted = setting("FATHOM_CUDA_TIMELINE");
  alone_log.everything = wanted != NULL && strcmp(wanted, "all") == 0;
  fathom_alone = log_folder_find();
  return false; /* there is no spool */
}

void alone_started(bool on) {
  for (struct Driver* at = __start_fathom_driver; at != __stop_fathom_driver; ++at)
    at->number = call_number(at->site);
  const char* sampled = on ? setting("FATHOM_SAMPLE_LAUNCHES_CUDA") : NULL;
  const uint64_t one_in = sampled != NULL ? number_in(sampled) : 0;
  fathom_sample_launches = one_in < 1000000 ? (uint32_t)one_in : 1000000;
  const char* stacks = on ? setting("FATHOM_STACKS_CUDA") : NULL;
  if (stacks != NULL && *stacks == '1') stacks_enable();
  const char* queries = on ? setting("FATHOM_QUERIES_CUDA") : NULL;
  fathom_time_queries = on ? !fathom_core.trace || (queries != NULL && strcmp(queries, "all") == 0)
                           : alone_log.everything;
}

static uint64_t find_rate(void) {
  if (fathom_core.clock != kClockTsc) return 1ull << 32;
  const uint64_t from_ns = monotonic_ns(), from = read_tsc();
  uint64_t ns;
  while ((ns = monotonic_ns() - from_ns) < CALIBRATION_NS) {
  }
  return (uint64_t)(((unsigned __int128)(read_tsc() - from) << 32) / ns);
}

static uint64_t ns_of(uint64_t ticks) {
  return alone_log.ticks_per_ns_32 == 0
             ? 0
             : (uint64_t)(((unsigned __int128)ticks << 32) / alone_log.ticks_per_ns_32);
}

/* A reader finds the old or the new one, never a half. */
static void write_metrics(void) {
  static struct CallSum sums[kMostDrivers];
  static char buffer[kMetricsBytes], name[1104];
  const uint32_t count = (uint32_t)(__stop_fathom_driver - __start_fathom_driver);
  memset(sums, 0, sizeof sums);
  for (uint32_t i = 0; i < count && i < kMostDrivers; ++i) {
    for (int stripe = 0; stripe < kStripes; ++stripe) {
      const struct CallSum* from = &stripes[stripe].of[i];
      sums[i].count += __atomic_load_n(&from->count, __ATOMIC_RELAXED);
      sums[i].ns += __atomic_load_n(&from->ns, __ATOMIC_RELAXED);
    }
    sums[i].ns = ns_of(sums[i].ns);
  }
  const struct MemoryUse use = memory_use();
  struct Text text = text_in(buffer, sizeof buffer);
  put_metrics(&text, sums, count, &use);
  struct Text path = text_in(name, sizeof name);
  put(&path, log_files()->metrics);
  put(&path, ".new");
  log_write(name, buffer, (size_t)(text.at - buffer), O_TRUNC);
  raw_call(SYS_renameat, AT_FDCWD, (long)name, AT_FDCWD, (long)log_files()->metrics, 0, 0);
}

/* With the gate held. */
static void write_all(void) {
  lines_write(alone_log.ending);
  write_metrics();
  __atomic_store_n(&alone_log.next_flush, ticks_now() + alone_log.flush_ticks, __ATOMIC_RELAXED);
}

void alone_flush(bool ending) {
  if (!fathom_alone || alone_log.process == 0 || alone_log.process != process_number()) return;
  const bool entered = gate_enter(&alone_log.gate);
  if (!entered && !ending) return;
  alone_log.ending |= ending;
  write_all();
  if (entered) gate_leave(&alone_log.gate);
}

/* Ends the process as if we had not been asked: the handler is for one time only. */
static void ends(int signal) {
  alone_flush(true);
  log_files_release();
  raw_call(SYS_tgkill, raw_getpid(), raw_gettid(), signal, 0, 0, 0);
}

/* Where the program has no handler of its own by now. */
static void take_signals(void) {
  static const int kEnds[] = {SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT,
                              SIGBUS, SIGFPE, SIGSEGV, SIGTERM};
  for (size_t i = 0; i < sizeof kEnds / sizeof *kEnds; ++i) {
    struct sigaction now;
    if (sigaction(kEnds[i], NULL, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction ours = {.sa_handler = ends,
                             .sa_flags = (int)SA_RESETHAND | SA_NODEFER | SA_ONSTACK};
    sigaction(kEnds[i], &ours, NULL);
  }
}

/* The first call of a process, also of a forked one, which has nothing of its parent's. */
static void begin_process(uint64_t self) {
  if (!gate_enter(&alone_log.gate)) return;
  if (alone_log.process != self) {
    const bool is_child = alone_log.process != 0;
    memset(stripes, 0, sizeof stripes);
    unknown_forget_counts();
    log_files_forget();
    (void)log_files(); /* now: who comes later is not the first */
    alone_log.ending = false;
    if (!is_child) {
      alone_log.ticks_per_ns_32 = find_rate();
      alone_log.flush_ticks =
          (uint64_t)(((unsigned __int128)FLUSH_NS * alone_log.ticks_per_ns_32) >> 32);
      take_signals();
    }
    lines_begin(alone_log.ticks_per_ns_32);
    alone_log.next_flush = ticks_now() + alone_log.flush_ticks;
    __atomic_store_n(&alone_log.process, self, __ATOMIC_RELEASE);
  }
  gate_leave(&alone_log.gate);
}

static uint32_t stripe_of_thread(void) {
  static __thread uint32_t known; /* + 1 */
  static uint32_t next;
  if (unlikely(known == 0)) {
    const uint32_t taken = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
    known = (taken < kStripes ? taken : kStripes - 1) + 1;
  }
  return known - 1;
}

/* The ring is full. Should it stay so, because somebody was stopped while he wrote there, the line
 * comes too early. */
static __attribute__((noinline)) void add_line_slowly(uint32_t stripe, const struct Line* line) {
  if (!gate_enter(&alone_log.gate)) return;
  lines_write(false);
  if (!line_add(stripe, line)) line_write_now(line);
  gate_leave(&alone_log.gate);
}

static struct CallSum* sum_of(const struct Driver* driver, uint32_t stripe) {
  const uint32_t index = (uint32_t)(driver - __start_fathom_driver);
  return &stripes[stripe].of[index < kMostDrivers ? index : kMostDrivers - 1];
}

/* One thread's own needs no lock, which would wait until all that the driver wrote to its device
 * has left the processor; an addition in one instruction holds against signal handlers. */
static uint64_t add_to(uint64_t* sum, uint64_t amount, uint32_t stripe) {
#ifdef __x86_64__
  if (likely(stripe < kStripes - 1)) {
    __asm__("addq %1, %0" : "+m"(*sum) : "er"(amount) : "cc");
    return *sum;
  }
#endif
  return __atomic_add_fetch(sum, amount, __ATOMIC_RELAXED);
}

static void begin_here(void) {
  const uint64_t self = process_number();
  if (unlikely(alone_log.process != self)) begin_process(self);
}

static uint32_t add_call(struct Driver* driver, uint64_t ticks) {
  begin_here();
  const uint32_t stripe = stripe_of_thread();
  struct CallSum* sum = sum_of(driver, stripe);
  (void)add_to(&sum->count, 1, stripe);
  (void)add_to(&sum->ns, ticks, stripe);
  return stripe;
}

static void flush_when_due(uint64_t ticks) {
  if (unlikely(ticks >= __atomic_load_n(&alone_log.next_flush, __ATOMIC_RELAXED) ||
               alone_log.ending))
    alone_flush(false);
}

void alone_end(struct Driver* driver, uint64_t start_ticks, uint64_t end_ticks, int result,
               const struct About* about) {
  const uint32_t stripe = add_call(driver, end_ticks - start_ticks);
  (void)result;
  const bool is_frequent = driver->kind == kLaunchCall || driver->kind == kLookUpCall;
  if (!is_frequent || unlikely(alone_log.everything)) {
    const struct Line line = {.start_ticks = start_ticks,
                              .ticks = end_ticks - start_ticks,
                              .bytes = about->bytes,
                              .driver = (uint32_t)(driver - __start_fathom_driver),
                              .copy = about->copy};
    if (unlikely(!line_add(stripe, &line))) add_line_slowly(stripe, &line);
  }
  flush_when_due(end_ticks);
}

HOT_CODE void alone_launched(struct Driver* driver, uint64_t start_ticks) {
  const uint64_t end_ticks = ticks_now();
  if (unlikely(alone_log.everything)) {
    const struct About about = {0};
    alone_end(driver, start_ticks, end_ticks, 0, &about);
    return;
  }
  (void)add_call(driver, end_ticks - start_ticks);
  flush_when_due(end_ticks);
}

/* The clock is looked at now and then; who also does something else does so more often. */
void alone_count(struct Driver* driver) {
  begin_here();
  const uint32_t stripe = stripe_of_thread();
  const uint64_t count = add_to(&sum_of(driver, stripe)->count, 1, stripe);
  if (unlikely(count % kLookEvery == 0 || alone_log.ending) &&
      (alone_log.ending || ticks_now() >= __atomic_load_n(&alone_log.next_flush, __ATOMIC_RELAXED)))
    alone_flush(false);
}

void alone_count_unknown(uint64_t* count) {
  begin_here();
  __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
  if (unlikely(alone_log.ending)) alone_flush(false);
}

/* What is known by then is written; nothing can be later. */
void alone_sandboxed(bool installed) {
  if (!installed) alone_flush(false);
  if (installed) fathom_alone = 0;
}

static void finish(void) {
  if (!fathom_alone || !has_thread() || alone_log.process == 0 ||
      alone_log.process != process_number())
    return;
  alone_flush(true);
  log_files_release();
}

__attribute__((destructor)) static void at_exit(void) { finish(); }

/* These end the program without destructors. */
#define WRAP_END(function)                             \
  CALL_SITE(function);                                 \
  FATHOM_EXPORT void function(int status) {            \
    if (site_##function.real == NULL) start_guarded(); \
    memory_note_leaks();                               \
    finish();                                          \
    ((void (*)(int))site_##function.real)(status);     \
    __builtin_unreachable();                           \
  }
WRAP_END(_exit)
WRAP_END(_Exit)

#define WRAP_EXEC(function, parameters, arguments)             \
  CALL_SITE(function);                                         \
  FATHOM_EXPORT int function parameters {                      \
    if (site_##function.real == NULL) start_guarded();         \
    finish();                                                  \
    return ((int(*) parameters)site_##function.real)arguments; \
  }
WRAP_EXEC(execve, (const char* path, char* const list[], char* const variables[]),
          (path, list, variables))
WRAP_EXEC(execv, (const char* path, char* const list[]), (path, list))
WRAP_EXEC(execvp, (const char* file, char* const list[]), (file, list))
