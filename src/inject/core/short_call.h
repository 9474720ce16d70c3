/* SPDX-License-Identifier: Apache-2.0
 * Calls in the usual cases, in as few instructions and lines of the cache as there can be: a kernel
 * or driver that has just worked has left nothing of ours in the first ones, neither code nor data.
 * Others are call_end's.
 *
 * Of tracing, all that could be otherwise is one number: a thread that has it is quick. It is
 * attached, has not been forked, reads the time stamp counter and traces, and what its shim has
 * found out still holds. */
#pragma once

#include "inject/core/call.h"
#include "inject/core/cell.h"

typedef uint64_t __attribute__((may_alias)) SpoolWord;

static inline __attribute__((always_inline)) bool is_quick(const struct Thread* thread) {
  const uint32_t depth = thread->depth;
  return thread->quick == fathom_core.epoch[1] &&
         (likely(depth == 0) ||
          (depth < kMostDepth && is_within(&thread->lanes[0].desk->frames[depth - 1],
                                           (uintptr_t)__builtin_frame_address(0))));
}

/* `number` is that of before the shim found out what `mark` stands for. */
static inline void be_quick(struct Thread* thread, uint64_t number, uint64_t mark) {
  if (fathom_core.clock != kClockTsc || !fathom_core.trace || number == 0 ||
      thread->epoch != *fathom_core.epoch)
    return;
  thread->lanes[0].desk->mark = mark;
  keep_order();
  thread->quick = number;
}

_Static_assert(kCallCounted < 1 << (16 - kSmallCallBits), "flags stand above the number");
_Static_assert(kSmallFileBits + kSmallTicksBits + kSmallValueBits == 64, "the rest is one word");

/* The first two bytes of a record. */
static inline uint64_t head_of(enum SpoolKind kind, uint64_t bytes) {
  return kind | bytes / 8 << 8;
}

/* What call_count does of a call that did not fail, to no file, with a cell in this slice. False:
 * nothing was done. */
static inline __attribute__((always_inline)) bool count_shortly(uint32_t number) {
  struct Thread* thread = &fathom_thread;
  struct Lane* lane = &thread->tally;
  if (unlikely(lane->busy != 0)) return false;
  lane->busy = (uintptr_t)__builtin_frame_address(0);
  keep_order();
  struct Desk* desk = lane->desk;
  bool counted = false;
  if (likely(desk != NULL && thread->epoch == *fathom_core.epoch)) {
    const struct IndexSlot* slot = &desk->index[first_slot(number, 0)];
    counted = slot->key == (uint64_t)(number + 1) << 32 && thread->now_ticks < desk->slice_end &&
              (desk->counted + 1) % kCountedBlind != 0;
    if (likely(counted)) {
      ++desk->counted;
      ++slot->cell->count;
    }
  }
  keep_order();
  lane->busy = 0;
  return counted;
}

/* The desk of a call that had none around it, taken until busy is 0 again. NULL: not so. It is read
 * before it is known to be this process's: who forks in a handler later goes on with a copy. */
static inline __attribute__((always_inline)) struct Desk* take_desk(const struct Call* call,
                                                                    struct Thread* thread) {
  struct Lane* lane = &thread->lanes[0];
  if (unlikely(lane->busy != 0)) return NULL;
  lane->busy = (uintptr_t)__builtin_frame_address(0);
  keep_order();
  struct Desk* desk = lane->desk;
  keep_order();
  const uint64_t epoch = call->epoch;
  if (unlikely(((epoch ^ thread->epoch) | (epoch ^ *fathom_core.epoch) | call->depth) != 0)) {
    lane->busy = 0;
    return NULL;
  }
  return desk;
}

/* The record of such a call, for which there is room. What is written is nobody's until the cursor
 * has moved: to whoever jumps away before, it is a call that was left. */
static inline __attribute__((always_inline)) void put_short(struct Thread* thread,
                                                            struct Desk* desk,
                                                            const struct Call* call,
                                                            uint64_t number, uint64_t file,
                                                            uint64_t value, uint64_t flags) {
  const uint64_t start = call->start_ticks, since = start - desk->base_ticks;
  const uint64_t ticks = own_ticks(call->end_ticks - start);
  uint8_t* next = desk->cursor;
  SpoolWord* words = (SpoolWord*)next;
  thread->now_ticks = start;
  if (likely((since >> 32 | ticks >> kSmallTicksBits | file >> kSmallFileBits |
              value >> kSmallValueBits | number >> kSmallCallBits) == 0)) {
    next += sizeof(struct SpoolSmallCallRecord);
    words[0] = head_of(kSpoolSmallCall, sizeof(struct SpoolSmallCallRecord)) | number << 16 |
               flags << (16 + kSmallCallBits) | since << 32;
    words[1] = file | ticks << kSmallFileBits | value << (kSmallFileBits + kSmallTicksBits);
  } else {
    next += sizeof(struct SpoolShortCallRecord);
    words[0] =
        head_of(kSpoolShortCall, sizeof(struct SpoolShortCallRecord)) | number << 16 | flags << 32;
    words[1] = start;
    words[2] = ticks | file << 32;
    words[3] = value;
  }
  keep_order();
  thread->depth = call->depth;
  desk->cursor = next;
  keep_order();
  const SpoolPlace place = (uint64_t)(uintptr_t)next + desk->shift;
  struct SpoolArea* shared = &area_of(desk)->shared;
  __atomic_store_n(&shared->end, place, __ATOMIC_RELEASE);
  __atomic_store_n(&shared->sealed, place, __ATOMIC_RELEASE);
  keep_order();
  thread->lanes[0].busy = 0;
}

static inline bool has_room(const struct Desk* desk) {
  return desk->cursor + sizeof(struct SpoolShortCallRecord) <= desk->limit;
}

/* Does what call_end does of a call that did not fail, had none around or within it, and finds room
 * in its chunk. False: nothing was done, and call_end is to be asked. */
static inline __attribute__((always_inline)) bool call_end_shortly(const struct Call* call,
                                                                   const struct CallSite* site,
                                                                   uint32_t file, int64_t value,
                                                                   uint32_t flags) {
  struct Thread* thread = &fathom_thread;
  struct Desk* desk = take_desk(call, thread);
  if (unlikely(desk == NULL)) return false;
  const uint64_t elapsed = call->end_ticks - call->start_ticks;
  if (unlikely((desk->frames[0].inner_ticks | elapsed >> 32) != 0 || !has_room(desk))) {
    thread->lanes[0].busy = 0;
    return false;
  }
  put_short(thread, desk, call, call_number(site), file, (uint64_t)value, flags);
  return true;
}

/* The same of summing: of a call whose cell is in its place. Not `timed`: calls are only counted,
 * all in one slice. */
static inline __attribute__((always_inline)) bool call_end_in_cell(const struct Call* call,
                                                                   const struct CallSite* site,
                                                                   uint32_t file, int64_t value,
                                                                   uint32_t flags, bool timed) {
  struct Thread* thread = &fathom_thread;
  struct Desk* desk = take_desk(call, thread);
  if (unlikely(desk == NULL)) return false;
  const uint32_t number = call_number(site);
  const struct IndexSlot* slot = &desk->index[first_slot(number, file)];
  if (unlikely(slot->key != cell_key(number, file) ||
               (timed &&
                (call->start_ticks < desk->slice_begin || call->start_ticks >= desk->slice_end)))) {
    thread->lanes[0].busy = 0;
    return false;
  }
  struct SpoolCellRecord* cell = slot->cell;
  const uint64_t inner = desk->frames[0].inner_ticks;
  keep_order();
  thread->depth = 0;
  ++cell->count;
  cell->head.flags |= (uint16_t)flags;
  if (unlikely(flags & kCallFailed))
    ++cell->errors;
  else if (flags & kCallHasBytes)
    cell->bytes += (uint64_t)value;
  if (timed) {
    const uint64_t ticks = own_ticks(call->end_ticks - call->start_ticks);
    cell->ticks += ticks;
    cell->self_ticks += inner < ticks ? ticks - inner : 0;
    ++cell->latency[bucket_of(ticks)];
  }
  keep_order();
  thread->lanes[0].busy = 0;
  return true;
}

/* Where calls are only counted: the begin of one that has none around it. False: it is not so. */
static inline __attribute__((always_inline)) bool count_begin(uint64_t* epoch,
                                                              const struct CallSite* site) {
  struct Thread* thread = &fathom_thread;
  if (likely(fathom_core.clock != kClockNone) || !has_thread() ||
      unlikely(thread->epoch != *fathom_core.epoch) || unlikely(thread->depth != 0))
    return false;
  *epoch = thread->epoch;
  open_frame(thread, 0, (uintptr_t)__builtin_frame_address(0), call_number(site));
  return true;
}

/* And its end, if it did not fail. False: nothing was done. */
static inline __attribute__((always_inline)) bool count_end(uint64_t epoch,
                                                            const struct CallSite* site,
                                                            uint32_t file, int64_t value,
                                                            uint32_t flags) {
  const struct Call call = {.epoch = epoch};
  return call_end_in_cell(&call, site, file, value, flags & kCallHasBytes, false);
}

/* Of a thread that is quick. */
static inline __attribute__((always_inline)) void quick_begin(struct Call* call,
                                                              struct Thread* thread,
                                                              uint32_t number) {
  call->epoch = thread->epoch;
  call->depth = thread->depth;
  open_frame(thread, call->depth, (uintptr_t)__builtin_frame_address(0), number);
  call->start_ticks = read_tsc();
}

/* What call_end does of a call that did not fail, had none within it, and finds room in its chunk.
 * False: nothing was done but to read the clock, and call_end is to be asked. */
static inline __attribute__((always_inline)) bool quick_end(struct Call* call,
                                                            struct Thread* thread, uint32_t number,
                                                            uint32_t file, int result) {
  struct Lane* lane = &thread->lanes[0];
  call->end_ticks = read_tsc();
  if (unlikely(((uint32_t)result | (call->end_ticks - call->start_ticks) >> 32 | lane->busy) != 0))
    return false;
  lane->busy = (uintptr_t)__builtin_frame_address(0);
  keep_order();
  struct Desk* desk = lane->desk;
  struct Frame* frame = &desk->frames[call->depth];
  if (unlikely(((thread->quick ^ fathom_core.epoch[1]) | frame->inner_ticks) != 0 ||
               !has_room(desk))) {
    lane->busy = 0;
    return false;
  }
  if (unlikely(call->depth > 0)) frame[-1].inner_ticks += call->end_ticks - call->start_ticks;
  put_short(thread, desk, call, number, file, 0, 0);
  return true;
}
