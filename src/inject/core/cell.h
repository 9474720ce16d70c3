/* SPDX-License-Identifier: Apache-2.0
 * Adds a call to its cell. The hot path of profile mode is in short_call.h. */
#pragma once

#include "inject/core/core.h"

static inline uint32_t first_slot(uint32_t call, uint32_t file) {
  return (call * 7 + file) % kIndexSlots;
}

static inline uint64_t cell_key(uint32_t call, uint32_t file) {
  return (uint64_t)(call + 1) << 32 | file;
}

static inline uint32_t bucket_of(uint64_t ticks) {
  const uint64_t ns = (uint64_t)(((unsigned __int128)ticks * fathom_core.ns_per_tick_32) >> 32);
  const uint32_t bucket = 63 - (uint32_t)__builtin_clzll(ns | 1);
  return bucket < kSpoolBuckets ? bucket : kSpoolBuckets - 1;
}

static inline void cell_add(struct SpoolCellRecord* cell, const struct Ended* ended) {
  ++cell->count;
  cell->head.flags |= (uint16_t)ended->flags;
  if (ended->flags & kCallFailed) ++cell->errors;
  if (ended->flags & kCallAbandoned) return;
  if ((ended->flags & (kCallHasBytes | kCallFailed)) == kCallHasBytes)
    cell->bytes += (uint64_t)ended->value;
  if (fathom_core.clock == kClockNone) return;
  cell->ticks += ended->ticks;
  cell->self_ticks += ended->self_ticks;
  ++cell->latency[bucket_of(ended->ticks)];
}
