/* SPDX-License-Identifier: Apache-2.0
 * A driver function is one line of a list: CU(name, since, number of arguments, what it means).
 * Every one returns a number (0: success) and takes whole registers or stack slots, which are
 * passed on as they come, whatever their types: so no header of CUDA is needed, and more arguments
 * than a function has do no harm. The name is the one that libcuda exports, with its ABI version
 * (_v2) and per-thread-stream form (_ptds, _ptsz); `since` is the CUDA version (12000 for 12.0)
 * from which cuGetProcAddress means it by the name without them. Versions of one function are given
 * the number of arguments of the longest. */
#pragma once

#include "inject/core/call.h"

typedef uintptr_t Word; /* an argument */

struct Driver {
  struct CallSite* site;
  void* wrapper;
  void* real; /* NULL: not found yet */
  uint32_t since;
  uint32_t kind; /* DriverKind */
};
enum DriverKind { kPlainCall, kLaunchCall, kCopyCall, kLookUpCall };

#define DRIVER_ENTRY(function, since, kind)                           \
  CALL_SITE(function);                                                \
  static struct Driver driver_##function                              \
      __attribute__((section("fathom_driver"), used, aligned(8))) = { \
          &site_##function, (void*)function, NULL, since, kind}
extern struct Driver __start_fathom_driver[] __attribute__((visibility("hidden")));
extern struct Driver __stop_fathom_driver[] __attribute__((visibility("hidden")));

enum CopyKind { kNoCopy, kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kUnknownCopy };

/* What is known of a call beyond its time. */
struct About {
  const char* name; /* of a kernel, or a direction; not ended by a 0 */
  uint32_t name_length;
  uint32_t shape[7]; /* grid, block, shared bytes */
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
extern uint32_t fathom_alone __attribute__((visibility("hidden"))); /* logs are written, no spool */
void driver_end(const struct DriverCall* call, struct Driver* driver, int result,
                const struct About* about);
void driver_note(struct CallSite* site, uint64_t start_ticks, const char* name, uint64_t value);

/* sample.c: of launches only about one in so many is recorded, and says how many it stands for. */
extern uint32_t fathom_sample_launches __attribute__((visibility("hidden"))); /* 0, 1: all are */
bool launch_left_out(void);
uint64_t launch_weight(void); /* of this thread's launch now; 0: only for itself */

static inline __attribute__((always_inline)) void driver_begin(struct DriverCall* call,
                                                               const struct Driver* driver) {
  call->recorded = call_begin(&call->call, driver->site);
  call->alone = !call->recorded && fathom_alone;
  if (call->alone) call->call.start_ticks = ticks_now();
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

/* `before` is done before the real call, what follows after it: statements that fill in `about`. */
#define CU_FULL(function, since, kind, count, before, ...)                                \
  FATHOM_EXPORT int function P##count;                                                    \
  DRIVER_ENTRY(function, since, kind);                                                    \
  int function P##count {                                                                 \
    if (unlikely(driver_##function.real == NULL) && !driver_find(&driver_##function))     \
      return kErrorNotFound;                                                              \
    if (kind == kLaunchCall && unlikely(fathom_sample_launches > 1) && launch_left_out()) \
      return ((int(*) P##count)driver_##function.real)G##count;                           \
    struct DriverCall call;                                                               \
    before;                                                                               \
    driver_begin(&call, &driver_##function);                                              \
    const int result = ((int(*) P##count)driver_##function.real)G##count;                 \
    if (unlikely(!call.recorded && !call.alone)) return result;                           \
    call_stop(&call.call);                                                                \
    struct About about = {0};                                                             \
    __VA_ARGS__;                                                                          \
    driver_end(&call, &driver_##function, result, &about);                                \
    return result;                                                                        \
  }
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
