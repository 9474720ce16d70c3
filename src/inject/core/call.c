/* SPDX-License-Identifier: Apache-2.0
 * The end of a call: the hot path. What is rare about it stands in left.c. */
#include "inject/core/call.h"

/* Closes the frame and fills in the times. */
static inline void close_frame(struct Thread* thread, const struct Call* call,
                               struct Ended* ended) {
  struct Frame* frames = thread->lanes[0].desk->frames;
  const uint64_t elapsed = call->end_ticks - call->start_ticks;
  const uint64_t cost = fathom_core.cost_ticks;
  const uint32_t depth = call->depth;
  ended->ticks = elapsed > cost ? elapsed - cost : 0;
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

/* The lane is busy before anything else: who forks in a handler from here on finds it so. Others
 * get a copy of `ended`, so that here it stays in registers. */
void call_end(const struct Call* call, const struct CallSite* site, uint32_t file, int64_t value,
              uint32_t flags, int32_t error) {
  struct Thread* thread = &fathom_thread;
  struct Lane* lane = &thread->lanes[0];
  struct Ended ended = {.start_ticks = call->start_ticks,
                        .value = value,
                        .call = call_number(site),
                        .file = file,
                        .flags = flags,
                        .error = error};
  const uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
  const bool is_free = lane->busy == 0;
  if (likely(is_free)) lane->busy = stack;
  keep_order();
  if (unlikely(call->epoch != thread->epoch || call->epoch != *fathom_core.epoch)) {
    if (is_free) lane->busy = 0;
    struct Ended copy = ended;
    call_end_elsewhere(thread, call, &copy, stack);
    return;
  }
  close_frame(thread, call, &ended);
  if (unlikely(!is_free)) {
    const struct Ended copy = ended;
    write_slowly(thread, &copy, stack);
    return;
  }
  struct Desk* desk = lane->desk;
  const uint64_t key = (uint64_t)(ended.call + 1) << 32 | ended.file;
  const struct IndexSlot* slot = &desk->index[first_slot(ended.call, ended.file)];
  if (!fathom_core.trace && slot->key == key && ended.start_ticks >= desk->slice_begin &&
      ended.start_ticks < desk->slice_end) {
    cell_add(slot->cell, &ended);
  } else {
    const struct Ended copy = ended;
    stream_write(desk, &copy);
  }
  keep_order();
  lane->busy = 0;
}
