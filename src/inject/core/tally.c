/* SPDX-License-Identifier: Apache-2.0
 * Calls that are counted and not timed while others are traced: those that take less time than to
 * time them. They stand in cells of an area of their own, which is sealed when a slice is over. The
 * time is that of the thread's last call that was timed, and now and then the clock's. */
#include "inject/core/call.h"

static inline void count_in(struct SpoolCellRecord* cell, bool failed) {
  ++cell->count;
  if (unlikely(failed)) {
    ++cell->errors;
    cell->head.flags |= kCallFailed;
  }
}

static void count_at(struct Desk* desk, struct Thread* thread, uint32_t call, uint32_t file,
                     bool failed) {
  struct SpoolCellRecord* cell = tally_cell(desk, call, file, thread->now_ticks);
  if (cell != NULL) count_in(cell, failed);
}

static void make_tally(struct Thread* thread) {
  add_desk(&thread->tally, thread);
  if (thread->tally.desk != NULL) thread->tally.desk->tallies = 1;
  thread->now_ticks = ticks_now();
}

/* The first of a thread, in a vfork child, or in a handler that came while its thread counted. */
static __attribute__((noinline)) bool count_slowly(struct Thread* thread, uint32_t call,
                                                   uint32_t file, bool failed, uintptr_t stack) {
  struct Lane* lane = &thread->tally;
  if (thread->epoch != *fathom_core.epoch && !thread_attach(thread)) return false;
  const bool is_own = thread->epoch == *fathom_core.epoch; /* a vfork child has none */
  if (is_own && lane->busy != 0 && is_over(lane->busy, stack)) lane->busy = 0;
  if (is_own && lane->busy == 0) {
    lane->busy = stack;
    keep_order();
    if (lane->desk == NULL) make_tally(thread);
    struct Desk* desk = lane->desk;
    if (desk != NULL) count_at(desk, thread, call, file, failed);
    keep_order();
    lane->busy = 0;
    if (desk != NULL) return true;
  }
  const struct Ended ended = {.start_ticks = ticks_now(),
                              .call = call,
                              .file = file,
                              .flags = kCallCounted | (failed ? (uint32_t)kCallFailed : 0u)};
  write_slowly(thread, &ended, stack);
  return true;
}

/* The lane is busy before anything else, as in call_end. */
bool call_count(const struct CallSite* site, uint32_t file, bool failed) {
  struct Thread* thread = &fathom_thread;
  struct Lane* lane = &thread->tally;
  const uint32_t call = call_number(site);
  const uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
  const bool is_free = lane->busy == 0;
  if (likely(is_free)) lane->busy = stack;
  keep_order();
  struct Desk* desk = lane->desk;
  if (unlikely(!is_free || desk == NULL || thread->epoch != *fathom_core.epoch)) {
    if (is_free) lane->busy = 0;
    return count_slowly(thread, call, file, failed, stack);
  }
  if (unlikely(++desk->counted % kCountedBlind == 0)) thread->now_ticks = ticks_now();
  const struct IndexSlot* slot = &desk->index[first_slot(call, file)];
  if (likely(slot->key == cell_key(call, file) && thread->now_ticks < desk->slice_end))
    count_in(slot->cell, failed);
  else
    count_at(desk, thread, call, file, failed);
  keep_order();
  lane->busy = 0;
  return true;
}
