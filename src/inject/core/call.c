/* SPDX-License-Identifier: Apache-2.0
 * The end of a call: the hot path. What is usual stands in short_call.h, what is rare in left.c. */
#include "inject/core/short_call.h"

/* Where there is no even time stamp counter, and where calls are only counted. */
uint64_t ticks_otherwise(void) { return fathom_core.clock == kClockNone ? 0 : monotonic_ns(); }

/* Closes the frame and fills in the times. */
static inline void close_frame(struct Thread* thread, struct Desk* desk, const struct Call* call,
                               struct Ended* ended) {
  struct Frame* frames = desk->frames;
  const uint64_t elapsed = call->end_ticks - call->start_ticks;
  const uint32_t depth = call->depth;
  ended->ticks = own_ticks(elapsed);
  ended->self_ticks = ended->ticks;
  if (depth < kMostDepth) {
    const uint64_t inner = frames[depth].inner_ticks;
    ended->self_ticks -= inner < ended->ticks ? inner : ended->ticks;
  } else if (depth > kMostDepth) {
    ended->self_ticks = 0; /* it is within the last one whose inner time is known */
  }
  if (unlikely(depth > 0) && depth <= kMostDepth) frames[depth - 1].inner_ticks += elapsed;
  keep_order();
  thread->depth = depth;
}

/* The lane is busy before anything else: who forks in a handler from here on finds it so, and goes
 * on with a copy of this desk. */
static __attribute__((noinline)) void end_slowly(const struct Call* call,
                                                 const struct CallSite* site, uint32_t file,
                                                 int64_t value, uint32_t flags, int32_t error) {
  struct Ended ended = {.start_ticks = call->start_ticks,
                        .value = value,
                        .call = call_number(site),
                        .file = file,
                        .flags = flags,
                        .error = error};
  struct Thread* thread = &fathom_thread;
  struct Lane* lane = &thread->lanes[0];
  const uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
  const bool is_free = lane->busy == 0;
  if (likely(is_free)) lane->busy = stack;
  keep_order();
  struct Desk* desk = lane->desk;
  keep_order();
  if (unlikely(call->epoch != thread->epoch || call->epoch != *fathom_core.epoch)) {
    if (is_free) lane->busy = 0;
    call_end_elsewhere(thread, call, &ended, stack);
    return;
  }
  close_frame(thread, desk, call, &ended);
  thread->now_ticks = call->start_ticks;
  if (unlikely(!is_free)) {
    write_slowly(thread, &ended, stack);
    return;
  }
  stream_write(desk, &ended);
  keep_order();
  lane->busy = 0;
}

void call_end(const struct Call* call, const struct CallSite* site, uint32_t file, int64_t value,
              uint32_t flags, int32_t error) {
  bool done;
  if (fathom_core.trace)
    done = likely(!(flags & kCallFailed)) && call_end_shortly(call, site, file, value, flags);
  else
    done = call_end_in_cell(call, site, file, value, flags, fathom_core.clock != kClockNone);
  if (unlikely(!done)) end_slowly(call, site, file, value, flags, error);
}

void call_end_counted(uint64_t epoch, const struct CallSite* site, uint32_t file, int64_t value,
                      uint32_t flags, int32_t error) {
  const struct Call call = {.epoch = epoch};
  call_end(&call, site, file, value, flags, error);
}
