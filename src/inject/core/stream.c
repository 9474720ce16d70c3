/* SPDX-License-Identifier: Apache-2.0
 * A thread's stream of records in its chunks. Its owner alone writes; a record that was reserved
 * and never finished stays as a hole of known length. */
#include <string.h>

#include "inject/core/cell.h"

/* All that is known of the place is the cursor, so that a jump out of a signal handler or the death
 * of the thread never leaves two halves. It never stands at the first byte of a chunk: there it
 * means the end of the one before. */
static uint32_t chunk_of(const struct Area* area) {
  return (uint32_t)((uint64_t)(area->cursor - fathom_core.chunks - 1) / kSpoolChunkBytes);
}
static uint64_t offset_of(const struct Area* area) {
  return (uint64_t)(area->cursor - fathom_core.chunks - 1) % kSpoolChunkBytes + 1;
}

static void stream_publish(struct Area* area) {
  const SpoolPlace place = (uint64_t)chunk_of(area) << 32 | offset_of(area);
  __atomic_store_n(&area->shared.end, place, __ATOMIC_RELEASE);
  if (fathom_core.trace) __atomic_store_n(&area->shared.sealed, place, __ATOMIC_RELEASE);
}

static bool next_chunk(struct Area* area) {
  const uint32_t taken = chunk_take();
  if (taken == 0) return false;
  struct SpoolChunk* chunk = chunk_at(taken - 1);
  chunk->next = 0;
  chunk->first = sizeof *chunk;
  chunk->used = 0;
  if (offset_of(area) < kSpoolChunkBytes)
    ((struct SpoolRecord*)area->cursor)->kind = kSpoolEndOfChunk;
  __atomic_store_n(&chunk_at(chunk_of(area))->next, taken, __ATOMIC_RELEASE);
  area->cursor = (uint8_t*)chunk + sizeof *chunk;
  return true;
}

struct SpoolRecord* stream_reserve(struct Area* area, uint16_t words) {
  const uint64_t bytes = (uint64_t)words * 8;
  if (unlikely(offset_of(area) + bytes > kSpoolChunkBytes) && !next_chunk(area)) {
    count_lost(kLostSpace);
    return NULL;
  }
  struct SpoolRecord* record = (struct SpoolRecord*)area->cursor;
  record->kind = kSpoolHole;
  record->words = words;
  keep_order();
  area->cursor += bytes;
  return record;
}

/* Its kind comes last: until then it is a hole. */
void finish_record(struct Area* area, struct SpoolRecord* record, uint16_t kind, uint32_t call,
                   uint32_t flags) {
  record->call = (uint16_t)call;
  record->flags = (uint16_t)flags;
  keep_order();
  record->kind = kind;
  stream_publish(area);
}

void stream_seal(struct Area* area) {
  area->index_used = 0;
  memset(area->index, 0, sizeof area->index);
  const SpoolPlace end = __atomic_load_n(&area->shared.end, __ATOMIC_RELAXED);
  __atomic_store_n(&area->shared.sealed, end, __ATOMIC_RELEASE);
}

void stream_open_slice(struct Area* area, uint64_t ticks) {
  const struct Core* core = &fathom_core;
  stream_seal(area);
  const uint64_t since = ticks > core->slice_base_ticks ? ticks - core->slice_base_ticks : 0;
  area->slice = (uint32_t)(since / core->slice_ticks);
  area->slice_begin = core->slice_base_ticks + area->slice * core->slice_ticks;
  area->slice_end = area->slice_begin + core->slice_ticks;
}

static void write_short_call(struct Area* area, const struct Ended* ended) {
  struct SpoolShortCallRecord* record =
      (struct SpoolShortCallRecord*)stream_reserve(area, sizeof *record / 8);
  if (record == NULL) return;
  record->start_ticks = ended->start_ticks;
  record->ticks = (uint32_t)ended->ticks;
  record->file = ended->file;
  record->value = ended->value;
  finish_record(area, &record->head, kSpoolShortCall, ended->call, ended->flags);
}

static void write_call(struct Area* area, const struct Ended* ended) {
  if (!(ended->flags & kCallFailed) && ended->ticks == ended->self_ticks &&
      ended->ticks <= UINT32_MAX) {
    write_short_call(area, ended);
    return;
  }
  struct SpoolCallRecord* record =
      (struct SpoolCallRecord*)stream_reserve(area, sizeof *record / 8);
  if (record == NULL) return;
  record->file = ended->file;
  record->error = ended->error;
  record->start_ticks = ended->start_ticks;
  record->ticks = ended->ticks;
  record->self_ticks = ended->self_ticks;
  record->value = ended->value;
  finish_record(area, &record->head, kSpoolCall, ended->call, ended->flags);
}

static struct SpoolCellRecord* new_cell(struct Area* area, uint32_t call, uint32_t file,
                                        uint32_t slice) {
  struct SpoolCellRecord* cell = (struct SpoolCellRecord*)stream_reserve(area, sizeof *cell / 8);
  if (cell == NULL) return NULL;
  memset(&cell->head + 1, 0, sizeof *cell - sizeof cell->head);
  cell->file = file;
  cell->slice = slice;
  finish_record(area, &cell->head, kSpoolCell, call, 0);
  return cell;
}

static struct SpoolCellRecord* cell_for(struct Area* area, uint32_t call, uint32_t file) {
  const uint64_t key = (uint64_t)(call + 1) << 32 | file;
  uint32_t at = first_slot(call, file);
  while (area->index[at].key != 0) {
    if (area->index[at].key == key) return area->index[at].cell;
    at = (at + 1) % kIndexSlots;
  }
  if (area->index_used >= kIndexFull) {
    stream_seal(area); /* begins anew: cells of a key add up */
    at = first_slot(call, file);
  }
  struct SpoolCellRecord* cell = new_cell(area, call, file, area->slice);
  if (cell == NULL) return NULL;
  area->index[at].cell = cell;
  keep_order();
  area->index[at].key = key;
  ++area->index_used;
  return cell;
}

void stream_write(struct Area* area, const struct Ended* ended) {
  if (fathom_core.trace) {
    write_call(area, ended);
    return;
  }
  if (ended->start_ticks >= area->slice_end) stream_open_slice(area, ended->start_ticks);
  struct SpoolCellRecord* cell;
  if (ended->start_ticks < area->slice_begin) { /* it began before and took long */
    const uint64_t base = fathom_core.slice_base_ticks;
    const uint64_t since = ended->start_ticks > base ? ended->start_ticks - base : 0;
    cell = new_cell(area, ended->call, ended->file, (uint32_t)(since / fathom_core.slice_ticks));
  } else {
    cell = cell_for(area, ended->call, ended->file);
  }
  if (cell != NULL) cell_add(cell, ended);
}
