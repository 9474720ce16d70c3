/* SPDX-License-Identifier: Apache-2.0
 * A driver function is one line of a list: CU(name, since, number of arguments, what it means).
 * Every one returns a number (0: success) and takes whole registers or stack slots, which are
 * passed on as they come, whatever their types: so no header of CUDA is needed, and more arguments
 * than a function has do no harm. The name is the one that libcuda exports, with its ABI version
 * (_v2) and per-thread-stream form (_ptds, _ptsz); `since` is the CUDA version (12000 for 12.0)
 * from which cuGetProcAddress means it by the name without them. Versions of one function are given
 * the number of arguments of the longest. */
#pragma once

#include "inject/core/short_call.h"
#include "inject/cuda/mix.h"

typedef uintptr_t Word; /* an argument */

/* What a launch looks at stands together, and so does the code that it runs through: after a driver
 * has worked, each line of the cache is one that must be fetched again. */
#define HOT_DATA __attribute__((section("fathom_hot")))
#define HOT_CODE __attribute__((hot))

struct Driver {
  struct CallSite* site;
  void* wrapper;
  void* real;      /* NULL: not found yet */
  uint32_t number; /* of its records */
  uint32_t since;
  uint32_t kind; /* DriverKind */
} __attribute__((aligned(16)));
enum DriverKind { kPlainCall, kLaunchCall, kCopyCall, kLookUpCall, kQueryCall };

#define DRIVER_ENTRY(function, since, kind)                            \
  CALL_SITE(function);                                                 \
  static struct Driver driver_##function                               \
      __attribute__((section("fathom_driver"), used, aligned(16))) = { \
          &site_##function, (void*)function, NULL, 0, since, kind}
extern struct Driver __start_fathom_driver[] __attribute__((visibility("hidden")));
extern struct Driver __stop_fathom_driver[] __attribute__((visibility("hidden")));

enum CopyKind { kNoCopy, kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kUnknownCopy };

/* What is known of a call beyond its time. */
struct About {
  const char* name; /* of a kernel, or a direction; not ended by a 0 */
  uint32_t name_length;
  uint64_t shape[4]; /* grid, block and shared bytes, two 32-bit numbers each, lower half first */
  Word stream;
  uint64_t bytes;
  bool has_bytes, has_stream, has_shape, has_context;
  uint32_t copy; /* CopyKind, where its name does not say it */
};

struct DriverCall {
  struct Call call;
  bool recorded, alone;
};

/* resolve.c */
enum { kErrorNotFound = 500 };
bool driver_find(struct Driver* driver);
/* What `pointer`, found by this name, is to be replaced with. */
void* driver_wrapper(const char* name, void* pointer, uint32_t version, uint64_t flags);
/* A function of the driver for our own use, which is not recorded; NULL: it has none. */
void* driver_function(const char* name);

/* record.c */
/* A kernel's launch: what About says of others is found by these. */
struct Launch {
  Word kernel, stream;
  uint64_t shape[4];
};
void launch_end(const struct DriverCall* call, struct Driver* driver, int result,
                const struct Launch* launch);
__attribute__((cold)) void launch_end_slowly(const struct Call* call, struct Driver* driver,
                                             int result, uint32_t text);
enum { kTextSlots = 16384 };
extern uint64_t fathom_texts[kTextSlots] __attribute__((visibility("hidden"))); /* see mix.h */
/* `mark` stands for context, device and what kernels are called. */
static inline __attribute__((always_inline)) uint64_t launch_hash(uint64_t mark,
                                                                  const struct Launch* launch) {
  const uint64_t handles = mix_next(mix_next(mark, launch->kernel), launch->stream);
  const uint64_t grid = mix_next(mix_next(handles, launch->shape[0]), launch->shape[1]);
  return mix_next(mix_next(grid, launch->shape[2]), launch->shape[3]);
}
extern uint32_t fathom_alone __attribute__((visibility("hidden"))); /* logs are written, no spool */
void driver_end(const struct DriverCall* call, struct Driver* driver, int result,
                const struct About* about);
void driver_count(struct Driver* driver, int result);
extern uint32_t fathom_time_queries __attribute__((visibility("hidden"))); /* 0: only counted */
void driver_note(struct CallSite* site, uint64_t start_ticks, const char* name, uint64_t value);

void alone_launched(struct Driver* driver, uint64_t start_ticks); /* alone.c */

/* sample.c: of launches only about one in so many is recorded, and says how many it stands for. */
extern uint32_t fathom_sample_launches __attribute__((visibility("hidden"))); /* 0, 1: all are */
bool launch_left_out(void);
uint64_t launch_weight(void); /* of this thread's launch now; 0: only for itself */

static inline __attribute__((always_inline)) void driver_begin_untold(struct DriverCall* call,
                                                                      const struct Driver* driver) {
  call->recorded = call_begin_untold(&call->call, driver->site);
  call->alone = !call->recorded && fathom_alone;
  if (call->alone) call->call.start_ticks = ticks_now();
}
static inline __attribute__((always_inline)) void driver_begin(struct DriverCall* call,
                                                               const struct Driver* driver) {
  TELL_UNWINDING();
  driver_begin_untold(call, driver);
}

#define P1 (Word a)
#define P2 (Word a, Word b)
#define P3 (Word a, Word b, Word c)
#define P4 (Word a, Word b, Word c, Word d)
#define P5 (Word a, Word b, Word c, Word d, Word e)
#define P6 (Word a, Word b, Word c, Word d, Word e, Word f)
#define P8 (Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h)
#define P9 (Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i)
#define P11 (Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j, Word k)
#define P16                                                                                        \
  (Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j, Word k, Word l, \
   Word m, Word n, Word o, Word p)
#define G1 (a)
#define G2 (a, b)
#define G3 (a, b, c)
#define G4 (a, b, c, d)
#define G5 (a, b, c, d, e)
#define G6 (a, b, c, d, e, f)
#define G8 (a, b, c, d, e, f, g, h)
#define G9 (a, b, c, d, e, f, g, h, i)
#define G11 (a, b, c, d, e, f, g, h, i, j, k)
#define G16 (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)

#define FOUND(function) (likely(driver_##function.real != NULL) || driver_find(&driver_##function))
#define CALL_REAL(function, count) ((int(*) P##count)driver_##function.real) G##count
/* What launches a kernel: as CU_TIMED does it where it must, and else in fewer steps. A launch that
 * was seen before has a text by its hash. */
#define CU_KERNEL(function, since, count, ...)                                                    \
  HOT_CODE FATHOM_EXPORT int function P##count;                                                   \
  DRIVER_ENTRY(function, since, kLaunchCall);                                                     \
  static __attribute__((noinline, cold)) int function##_otherwise P##count {                      \
    if (!FOUND(function)) return kErrorNotFound;                                                  \
    if (unlikely(fathom_sample_launches > 1) && launch_left_out())                                \
      return CALL_REAL(function, count);                                                          \
    struct DriverCall call;                                                                       \
    driver_begin_untold(&call, &driver_##function);                                               \
    const int result = CALL_REAL(function, count);                                                \
    if (unlikely(!call.recorded && !call.alone)) return result;                                   \
    call_stop(&call.call);                                                                        \
    struct Launch launch;                                                                         \
    __VA_ARGS__;                                                                                  \
    launch_end(&call, &driver_##function, result, &launch);                                       \
    return result;                                                                                \
  }                                                                                               \
  int function P##count {                                                                         \
    struct Thread* thread = &fathom_thread;                                                       \
    void* real = driver_##function.real;                                                          \
    TELL_UNWINDING();                                                                             \
    if (unlikely(!is_quick(thread) || real == NULL)) goto otherwise;                              \
    struct Launch launch;                                                                         \
    __VA_ARGS__;                                                                                  \
    const uint64_t hash = launch_hash(thread->lanes[0].desk->mark, &launch);                      \
    const uint32_t text = text_in_slot(&fathom_texts[hash % kTextSlots], hash);                   \
    if (unlikely(text == 0)) goto otherwise;                                                      \
    struct Call call;                                                                             \
    quick_begin(&call, thread, driver_##function.number);                                         \
    const int result = ((int(*) P##count)real)G##count;                                           \
    if (unlikely(!quick_end(&call, thread, driver_##function.number, text, result))) goto slowly; \
    return result;                                                                                \
  slowly:                                                                                         \
    launch_end_slowly(&call, &driver_##function, result, text);                                   \
    return result;                                                                                \
  otherwise:                                                                                      \
    if (real == NULL || !fathom_alone) return function##_otherwise G##count;                      \
    const uint64_t start = ticks_now();                                                           \
    const int its_result = ((int(*) P##count)real)G##count;                                       \
    alone_launched(&driver_##function, start);                                                    \
    return its_result;                                                                            \
  }
/* `before` is done before the real call, what follows after it: statements that fill in `about`. */
#define CU_TIMED(function, kind, count, before, ...)                                    \
  if (kind == kLaunchCall && unlikely(fathom_sample_launches > 1) && launch_left_out()) \
    return CALL_REAL(function, count);                                                  \
  struct DriverCall call;                                                               \
  before;                                                                               \
  driver_begin(&call, &driver_##function);                                              \
  const int result = CALL_REAL(function, count);                                        \
  if (unlikely(!call.recorded && !call.alone)) return result;                           \
  call_stop(&call.call);                                                                \
  struct About about = {0};                                                             \
  __VA_ARGS__;                                                                          \
  driver_end(&call, &driver_##function, result, &about);                                \
  return result;
#define CU_FULL(function, since, kind, count, before, ...) \
  FATHOM_EXPORT int function P##count;                     \
  DRIVER_ENTRY(function, since, kind);                     \
  int function P##count {                                  \
    if (!FOUND(function)) return kErrorNotFound;           \
    CU_TIMED(function, kind, count, before, __VA_ARGS__)   \
  }
/* One that only asks: programs do so thousands of times where they launch once, and it takes less
 * time than to time it. It is counted, unless everything is wanted. */
#define CU_ASKS_MORE(function, since, count, ...)                                            \
  FATHOM_EXPORT int function P##count;                                                       \
  DRIVER_ENTRY(function, since, kQueryCall);                                                 \
  static __attribute__((noinline, cold)) int function##_timed P##count {                     \
    if (!FOUND(function)) return kErrorNotFound;                                             \
    CU_TIMED(function, kQueryCall, count, NOTHING, __VA_ARGS__)                              \
  }                                                                                          \
  int function P##count {                                                                    \
    if (unlikely(fathom_time_queries || !FOUND(function))) return function##_timed G##count; \
    const int result = CALL_REAL(function, count);                                           \
    __VA_ARGS__;                                                                             \
    driver_count(&driver_##function, result);                                                \
    return result;                                                                           \
  }
#define CU_ASKS(function, since) CU_ASKS_MORE(function, since, 8, NOTHING)
#define NOTHING (void)0
#define CU(function, since, count, ...) \
  CU_FULL(function, since, kPlainCall, count, NOTHING, __VA_ARGS__)
/* Nothing is known of its arguments but that there are at most eight. */
#define CU_ANY(function, since) CU(function, since, 8, NOTHING)
/* The same function in its form for per-thread default streams, too. */
#define CU_PTSZ(function, since, count, ...) \
  CU(function, since, count, __VA_ARGS__)    \
  CU(function##_ptsz, since, count, __VA_ARGS__)
#define CU_PTDS(function, since, count, ...) \
  CU(function, since, count, __VA_ARGS__)    \
  CU(function##_ptds, since, count, __VA_ARGS__)

#define STREAM(word) (about.has_context = about.has_stream = true, about.stream = (word))
#define CONTEXT (about.has_context = true)
#define BYTES(count) (about.has_bytes = true, about.bytes = (uint64_t)(count))
