/* SPDX-License-Identifier: Apache-2.0
 * Chunks of the spool: taken by any thread of any process that shares it, given back by the reader.
 */
#include "inject/core/core.h"
#include "inject/core/raw.h"

enum { kLookedAt = 512, kPatience = 256 };

struct SpoolChunk* chunk_at(uint32_t number) {
  return (struct SpoolChunk*)(fathom_core.chunks + (uint64_t)number * kSpoolChunkBytes);
}

void count_lost(enum SpoolLoss what) {
  __atomic_fetch_add(&fathom_core.header->lost[what], 1, __ATOMIC_RELAXED);
}

/* One that the reader gave back; it has memory already. */
static uint32_t take_used(void) {
  static uint32_t hint; /* where the last was found; a wrong one costs nothing but time */
  struct SpoolHeader* header = fathom_core.header;
  uint32_t known = __atomic_load_n(&header->next_chunk, __ATOMIC_RELAXED);
  if (known > header->chunk_count) known = header->chunk_count;
  uint32_t at = __atomic_load_n(&hint, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < known && i < kLookedAt; ++i, ++at) {
    if (at >= known) at = 0;
    uint8_t free = kChunkFree;
    if (__atomic_load_n(&header->chunk_state[at], __ATOMIC_RELAXED) != kChunkFree) continue;
    if (!__atomic_compare_exchange_n(&header->chunk_state[at], &free, kChunkUsed, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      continue;
    __atomic_store_n(&hint, at + 1, __ATOMIC_RELAXED);
    return at + 1;
  }
  __atomic_store_n(&hint, at, __ATOMIC_RELAXED);
  return 0;
}

static uint32_t take_any(void) {
  static uint32_t refusals; /* while all are in use, not every call looks at all of them */
  struct SpoolHeader* header = fathom_core.header;
  uint32_t next = __atomic_load_n(&header->next_chunk, __ATOMIC_RELAXED);
  if (next >= header->chunk_count &&
      __atomic_fetch_add(&refusals, 1, __ATOMIC_RELAXED) % kPatience != 0)
    return 0;
  const uint32_t used = take_used();
  if (used != 0) {
    __atomic_store_n(&refusals, 0, __ATOMIC_RELAXED);
    return used;
  }
  do {
    if (next >= header->chunk_count) return 0;
  } while (!__atomic_compare_exchange_n(&header->next_chunk, &next, next + 1, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  /* To write where there is no memory left would end the process. */
  if (fathom_core.populates && !raw_populate(chunk_at(next), kSpoolChunkBytes)) return 0;
  __atomic_store_n(&header->chunk_state[next], kChunkUsed, __ATOMIC_RELAXED);
  return next + 1;
}

uint32_t chunk_take(void) {
  uint32_t taken = take_any();
  while (unlikely(taken != 0 && is_private(taken - 1))) taken = take_any();
  return taken;
}
