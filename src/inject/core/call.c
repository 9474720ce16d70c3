/* SPDX-License-Identifier: Apache-2.0
 * What is rare about calls: they nest, are jumped out of, or end while the stream is in use. */
#include "inject/core/call.h"

#include <signal.h>

#include "inject/core/raw.h"

static uint32_t runs_on_signal_stack(void) {
  stack_t now = {0};
  return raw_call(SYS_sigaltstack, 0, (long)&now, 0, 0, 0, 0) == 0 && (now.ss_flags & SS_ONSTACK);
}

/* Whether what ran there has been left by a jump, given where its thread runs now. */
static bool was_left(uintptr_t stack, uint32_t on_signal_stack, uintptr_t now,
                     uint32_t now_on_signal_stack) {
  if (on_signal_stack == now_on_signal_stack) return stack <= now;
  return on_signal_stack && !now_on_signal_stack;
}

static void write_alone(struct Thread* thread, const struct Ended* ended, uintptr_t stack);

void settle_frames(struct Thread* thread, uintptr_t stack) {
  const uint32_t on_signal_stack = runs_on_signal_stack();
  while (thread->depth > 0) {
    const uint32_t at = thread->depth - 1;
    if (at >= kMostDepth) break;
    struct Frame* frame = &thread->area->frames[at];
    if (frame->stack == UINTPTR_MAX ||
        !was_left(frame->stack, frame->on_signal_stack, stack, on_signal_stack))
      break;
    const struct Ended ended = {
        .start_ticks = ticks_now(), .call = frame->call, .flags = kCallFailed | kCallAbandoned};
    frame->stack = UINTPTR_MAX;
    thread->depth = at;
    write_alone(thread, &ended, stack);
  }
  thread->on_signal_stack = thread->depth > 0 ? on_signal_stack : 0;
}

static void write_pending(struct Thread* thread, uintptr_t stack) {
  struct Area* area = thread->area;
  while (__atomic_load_n(&area->pending_count, __ATOMIC_RELAXED) != 0) {
    thread->busy = stack;
    keep_order();
    uint32_t written = 0;
    uint32_t waiting = __atomic_load_n(&area->pending_count, __ATOMIC_RELAXED);
    do { /* handlers may add while these are written */
      for (; written < waiting && written < kPending; ++written)
        stream_write(area, &area->pending[written]);
    } while (!__atomic_compare_exchange_n(&area->pending_count, &waiting, 0, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    keep_order();
    thread->busy = 0;
  }
}

static void add_pending(struct Area* area, const struct Ended* ended) {
  const uint32_t at = __atomic_load_n(&area->pending_count, __ATOMIC_RELAXED);
  if (at >= kPending) {
    count_lost(kLostSignal);
    return;
  }
  /* Handlers nest: one that comes now takes this place, and is done before we go on. */
  const uint32_t mine = __atomic_fetch_add(&area->pending_count, 1, __ATOMIC_RELAXED);
  if (mine < kPending) area->pending[mine] = *ended;
}

static void write_alone(struct Thread* thread, const struct Ended* ended, uintptr_t stack) {
  const uint32_t on_signal_stack = thread->busy != 0 ? runs_on_signal_stack() : 0;
  if (thread->busy != 0 &&
      !was_left(thread->busy, thread->busy_on_signal_stack, stack, on_signal_stack)) {
    add_pending(thread->area, ended);
    return;
  }
  thread->busy_on_signal_stack = on_signal_stack;
  thread->busy = stack;
  keep_order();
  stream_write(thread->area, ended);
  keep_order();
  thread->busy = 0;
  thread->busy_on_signal_stack = 0;
  write_pending(thread, stack);
}

void call_end_slowly(struct Thread* thread, const struct Ended* ended, uintptr_t stack) {
  const int error = errno;
  if (ended == NULL) {
    write_pending(thread, stack);
  } else if (thread->epoch == *fathom_core.epoch) {
    write_alone(thread, ended, stack);
  } else if (thread_attach(thread)) { /* it forked within the call, or is a vfork child */
    write_alone(thread, ended, stack);
    if (thread->depth > 0) --thread->depth;
  }
  errno = error;
}

/* Closes the frame and fills in the times. */
static inline void close_frame(struct Thread* thread, const struct Call* call,
                               struct Ended* ended) {
  const uint64_t elapsed = call->end_ticks - call->start_ticks;
  const uint64_t cost = fathom_core.cost_ticks;
  ended->ticks = elapsed > cost ? elapsed - cost : 0;
  ended->self_ticks = ended->ticks;
  if (call->depth < kMostDepth) {
    struct Frame* frame = &thread->area->frames[call->depth];
    const uint64_t inner = frame->inner_ticks;
    ended->self_ticks -= inner < ended->ticks ? inner : ended->ticks;
    frame->stack = UINTPTR_MAX;
    if (unlikely(call->depth > 0)) frame[-1].inner_ticks += elapsed;
    keep_order();
  }
  thread->depth = call->depth;
}

void call_end(const struct Call* call, const struct CallSite* site, uint32_t file, int64_t value,
              uint32_t flags, int32_t error) {
  struct Thread* thread = &fathom_thread;
  struct Ended ended = {.start_ticks = call->start_ticks,
                        .value = value,
                        .call = call_number(site),
                        .file = file,
                        .flags = flags,
                        .error = error};
  const uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
  if (unlikely(thread->epoch != *fathom_core.epoch)) {
    ended.ticks = ended.self_ticks = call->end_ticks - call->start_ticks;
    call_end_slowly(thread, &ended, stack);
    return;
  }
  close_frame(thread, call, &ended);
  if (unlikely(thread->busy != 0)) {
    call_end_slowly(thread, &ended, stack);
    return;
  }
  thread->busy = stack;
  keep_order();
  struct Area* area = thread->area;
  const uint64_t key = (uint64_t)(ended.call + 1) << 32 | ended.file;
  const struct IndexSlot* slot = &area->index[first_slot(ended.call, ended.file)];
  if (!fathom_core.trace && slot->key == key && ended.start_ticks >= area->slice_begin &&
      ended.start_ticks < area->slice_end) {
    cell_add(slot->cell, &ended);
  } else {
    stream_write(area, &ended);
  }
  keep_order();
  thread->busy = 0;
  if (unlikely(area->pending_count != 0)) call_end_slowly(thread, NULL, stack);
}
