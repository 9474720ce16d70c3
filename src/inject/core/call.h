/* SPDX-License-Identifier: Apache-2.0
 * What a shim says: that a function is wrapped (CALL_SITE), that a call begins and how it ended.
 * For any thread and any signal handler; between begin and end nothing is held. */
#pragma once

#include <errno.h>

#include "inject/core/cell.h"
#include "inject/core/ticks.h"

#define FATHOM_EXPORT __attribute__((visibility("default")))

/* One per wrapped function. Its number is its place in the section. */
struct CallSite {
  const char* name;
  void* real; /* the function wrapped, set before the first call gets through */
};
#define CALL_SITE(function)              \
  static struct CallSite site_##function \
      __attribute__((section("fathom_calls"), used, aligned(16))) = {#function, NULL}
extern struct CallSite __start_fathom_calls[] __attribute__((visibility("hidden")));
extern struct CallSite __stop_fathom_calls[] __attribute__((visibility("hidden")));
static inline uint32_t call_number(const struct CallSite* site) {
  return (uint32_t)(site - __start_fathom_calls);
}

struct Call {
  uint64_t epoch; /* of the thread when it began */
  uint64_t start_ticks, end_ticks;
  uint32_t depth;
};

/* How it went. Says nothing: no file, no bytes, no error. */
struct Outcome {
  int64_t value; /* bytes if flags has kCallHasBytes, else what was returned */
  uint32_t file, flags;
  int32_t error; /* errno, with kCallFailed */
};

uint64_t ticks_otherwise(void); /* call.c */
static inline uint64_t ticks_now(void) {
  return likely(fathom_core.clock == kClockTsc) ? read_tsc() : ticks_otherwise();
}

/* Between begin and stop, without what measuring took of it. */
static inline uint64_t own_ticks(uint64_t elapsed) {
  const uint64_t cost = fathom_core.cost_ticks;
  return likely(elapsed > cost) ? elapsed - cost : 0;
}

/* left.c */
/* Of a call that may have others around it: how many. */
uint32_t open_frame_within(struct Thread* thread, uintptr_t stack, uint32_t call);
void write_slowly(struct Thread* thread, const struct Ended* ended, uintptr_t stack);
void call_end_elsewhere(struct Thread* thread, const struct Call* call, struct Ended* ended,
                        uintptr_t stack);
void add_desk(struct Lane* lane, struct Thread* thread);
bool is_over(uintptr_t stack, uintptr_t now); /* whether what ran there has been jumped out of */
/* So many calls are counted between two looks at the clock. */
enum { kCountedBlind = 256 };
/* tally.c: counts a call, for a few ns: without its time, outside the calls around it. For tracing
 * only; false: nobody records. */
bool call_count(const struct CallSite* site, uint32_t file, bool failed);
/* call.c */
/* Leaves errno alone. `value`: bytes if flags has kCallHasBytes, else what was returned. */
void call_end(const struct Call* call, const struct CallSite* site, uint32_t file, int64_t value,
              uint32_t flags, int32_t error);
/* Of a call that count_begin began. */
void call_end_counted(uint64_t epoch, const struct CallSite* site, uint32_t file, int64_t value,
                      uint32_t flags, int32_t error);

/* An exception or the cancellation of the thread passes through the wrapper: left.c is told. */
#define TELL_UNWINDING() __asm__ volatile(".cfi_personality 0x1b, fathom_unwound")

/* What runs right above on the stack is not over: that need not be found out. Where signal handlers
 * run on a stack of theirs that lies there, and one was jumped out of, its call ends late. */
static inline bool is_within(const struct Frame* frame, uintptr_t stack) {
  enum { kNear = 65536 };
  return frame->stack - stack - 1 < kNear;
}

/* The frame of a call that begins now at this depth. */
static inline __attribute__((always_inline)) void open_frame(struct Thread* thread, uint32_t depth,
                                                             uintptr_t stack, uint32_t call) {
  struct Desk* desk = thread->lanes[0].desk;
  if (unlikely(desk == NULL)) return; /* a handler has just forked, and found no room */
  struct Frame* frame = &desk->frames[depth];
  frame->call = call;
  frame->stack = stack;
  keep_order();
  thread->depth = depth + 1;
  keep_order(); /* until now a handler's calls had the frame, too */
  frame->call = call;
  frame->stack = stack;
  frame->inner_ticks = 0;
}

/* False: nobody records, or not now; the real function is known all the same. Exceptions are told
 * of by the caller. */
static inline __attribute__((always_inline)) bool call_begin_untold(struct Call* call,
                                                                    const struct CallSite* site) {
  if (!has_thread()) return false;
  struct Thread* thread = &fathom_thread;
  if (unlikely(thread->epoch != *fathom_core.epoch) && !thread_attach(thread)) return false;
  const uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
  call->epoch = thread->epoch;
  call->depth = 0;
  if (likely(thread->depth == 0))
    open_frame(thread, 0, stack, call_number(site));
  else
    call->depth = open_frame_within(thread, stack, call_number(site));
  call->start_ticks = ticks_now();
  return true;
}
static inline __attribute__((always_inline)) bool call_begin(struct Call* call,
                                                             const struct CallSite* site) {
  TELL_UNWINDING();
  return call_begin_untold(call, site);
}

/* At once after the real function: what a wrapper does from then on is not the call's time. */
static inline void call_stop(struct Call* call) { call->end_ticks = ticks_now(); }
