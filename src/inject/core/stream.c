/* SPDX-License-Identifier: Apache-2.0
 * A thread's stream of records in its chunks. Its owner alone writes; a record that was reserved
 * and never finished stays as a hole of known length. */
#include <string.h>

#include "inject/core/call.h"
#include "inject/core/raw.h"
#include "inject/core/sandbox.h"

static void stream_publish(struct Desk* desk) {
  const SpoolPlace place = (uint64_t)(uintptr_t)desk->cursor + desk->shift;
  __atomic_store_n(&area_of(desk)->shared.end, place, __ATOMIC_RELEASE);
  if (fathom_core.trace && !desk->tallies)
    __atomic_store_n(&area_of(desk)->shared.sealed, place, __ATOMIC_RELEASE);
}

static bool go_to_next_chunk(struct Desk* desk) {
  const uint32_t taken = chunk_take();
  if (taken == 0) return false;
  struct SpoolChunk* chunk = chunk_at(taken - 1);
  chunk->next = 0;
  chunk->first = sizeof *chunk;
  chunk->used = 0;
  chunk->base_ticks = ticks_now();
  if (desk->cursor < desk->limit) ((struct SpoolRecord*)desk->cursor)->kind = kSpoolEndOfChunk;
  struct SpoolChunk* full = (struct SpoolChunk*)(desk->limit - kSpoolChunkBytes);
  __atomic_store_n(&full->next, taken, __ATOMIC_RELEASE);
  desk_goes_to(desk, (uint8_t*)chunk + sizeof *chunk);
  return true;
}

/* Nothing knows of the chunk while it is being taken: whoever forked or jumped away now would leave
 * it to two processes, or to none. */
static bool next_chunk(struct Desk* desk) {
  if (!work_begin(&fathom_thread)) return false;
  const uint64_t mask = block_signals();
  const bool taken = go_to_next_chunk(desk);
  set_signals(mask);
  work_end();
  return taken;
}

struct SpoolRecord* stream_reserve(struct Desk* desk, uint8_t words) {
  const uint64_t bytes = (uint64_t)words * 8;
  if (unlikely(bytes > (uint64_t)(desk->limit - desk->cursor)) && !next_chunk(desk)) {
    count_lost(kLostSpace);
    return NULL;
  }
  struct SpoolRecord* record = (struct SpoolRecord*)desk->cursor;
  record->kind = kSpoolHole;
  record->words = words;
  keep_order();
  desk->cursor += bytes;
  return record;
}

/* Its kind comes last: until then it is a hole. */
void finish_record(struct Desk* desk, struct SpoolRecord* record, uint8_t kind, uint32_t call,
                   uint32_t flags) {
  record->call = (uint16_t)call;
  record->flags = (uint16_t)flags;
  keep_order();
  record->kind = kind;
  stream_publish(desk);
}

void stream_seal(struct Desk* desk) {
  memset(desk->index, 0, sizeof desk->index);
  keep_order(); /* whoever jumps out before it is empty finds it full, and comes again */
  desk->index_used = 0;
  const SpoolPlace end = __atomic_load_n(&area_of(desk)->shared.end, __ATOMIC_RELAXED);
  __atomic_store_n(&area_of(desk)->shared.sealed, end, __ATOMIC_RELEASE);
}

static uint32_t slice_at(uint64_t ticks) {
  const uint64_t base = fathom_core.slice_base_ticks;
  return (uint32_t)((ticks > base ? ticks - base : 0) / fathom_core.slice_ticks);
}

static void stream_open_slice(struct Desk* desk, uint64_t ticks) {
  const struct Core* core = &fathom_core;
  stream_seal(desk);
  desk->slice = slice_at(ticks);
  desk->slice_begin = core->slice_base_ticks + desk->slice * core->slice_ticks;
  desk->slice_end = desk->slice_begin + core->slice_ticks;
}

static void write_short_call(struct Desk* desk, const struct Ended* ended) {
  struct SpoolShortCallRecord* record =
      (struct SpoolShortCallRecord*)stream_reserve(desk, sizeof *record / 8);
  if (record == NULL) return;
  record->start_ticks = ended->start_ticks;
  record->ticks = (uint32_t)ended->ticks;
  record->file = ended->file;
  record->value = ended->value;
  finish_record(desk, &record->head, kSpoolShortCall, ended->call, ended->flags);
}

static void write_call(struct Desk* desk, const struct Ended* ended) {
  if (!(ended->flags & kCallFailed) && ended->ticks == ended->self_ticks &&
      ended->ticks <= UINT32_MAX) {
    write_short_call(desk, ended);
    return;
  }
  struct SpoolCallRecord* record =
      (struct SpoolCallRecord*)stream_reserve(desk, sizeof *record / 8);
  if (record == NULL) return;
  record->file = ended->file;
  record->error = ended->error;
  record->start_ticks = ended->start_ticks;
  record->ticks = ended->ticks;
  record->self_ticks = ended->self_ticks;
  record->value = ended->value;
  finish_record(desk, &record->head, kSpoolCall, ended->call, ended->flags);
}

static struct SpoolCellRecord* new_cell(struct Desk* desk, uint32_t call, uint32_t file,
                                        uint32_t slice) {
  struct SpoolCellRecord* cell = (struct SpoolCellRecord*)stream_reserve(desk, sizeof *cell / 8);
  if (cell == NULL) return NULL;
  memset(&cell->head + 1, 0, sizeof *cell - sizeof cell->head);
  cell->file = file;
  cell->slice = slice;
  finish_record(desk, &cell->head, kSpoolCell, call, 0);
  return cell;
}

static struct SpoolCellRecord* cell_for(struct Desk* desk, uint32_t call, uint32_t file) {
  const uint64_t key = cell_key(call, file);
  uint32_t at = first_slot(call, file);
  while (desk->index[at].key != 0) {
    if (desk->index[at].key == key) return desk->index[at].cell;
    at = (at + 1) % kIndexSlots;
  }
  if (desk->index_used >= kIndexFull) {
    stream_seal(desk); /* begins anew: cells of a key add up */
    at = first_slot(call, file);
  }
  struct SpoolCellRecord* cell = new_cell(desk, call, file, desk->slice);
  if (cell == NULL) return NULL;
  desk->index[at].cell = cell;
  keep_order();
  desk->index[at].key = key;
  ++desk->index_used;
  return cell;
}

struct SpoolCellRecord* tally_cell(struct Desk* desk, uint32_t call, uint32_t file,
                                   uint64_t ticks) {
  if (ticks >= desk->slice_end) stream_open_slice(desk, ticks);
  struct SpoolCellRecord* cell = cell_for(desk, call, file);
  if (cell != NULL) cell->head.flags |= kCallCounted;
  return cell;
}

/* A call that was counted where there is no tally: a cell for it alone, final at once. */
static void write_counted(struct Desk* desk, const struct Ended* ended) {
  struct SpoolCellRecord* cell = (struct SpoolCellRecord*)stream_reserve(desk, sizeof *cell / 8);
  if (cell == NULL) return;
  memset(&cell->head + 1, 0, sizeof *cell - sizeof cell->head);
  cell->file = ended->file;
  cell->slice = slice_at(ended->start_ticks);
  cell->count = 1;
  cell->errors = (ended->flags & kCallFailed) ? 1 : 0;
  finish_record(desk, &cell->head, kSpoolCell, ended->call, ended->flags);
}

void stream_write(struct Desk* desk, const struct Ended* ended) {
  if (fathom_core.trace && unlikely(ended->flags & kCallCounted)) {
    write_counted(desk, ended);
    return;
  }
  if (fathom_core.trace) {
    write_call(desk, ended);
    return;
  }
  if (ended->start_ticks >= desk->slice_end) stream_open_slice(desk, ended->start_ticks);
  struct SpoolCellRecord* cell;
  if (ended->start_ticks < desk->slice_begin) { /* it began before and took long */
    cell = new_cell(desk, ended->call, ended->file, slice_at(ended->start_ticks));
  } else {
    cell = cell_for(desk, ended->call, ended->file);
  }
  if (cell != NULL) cell_add(cell, ended);
}
