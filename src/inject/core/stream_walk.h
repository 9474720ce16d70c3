/* SPDX-License-Identifier: Apache-2.0
 * Reads streams of a mapped spool from within the target. Steps are bounded, also where a torn
 * spool has a loop. */
#pragma once

#include <stdbool.h>

#include "wire/spool.h"

struct Walk {
  const struct SpoolHeader* header;
  uint32_t chunk;  /* number */
  uint32_t offset; /* within it */
  uint32_t steps;  /* chunks seen */
  SpoolPlace end;
};

static inline struct SpoolChunk* spool_chunk(const struct SpoolHeader* header, uint32_t number) {
  return (struct SpoolChunk*)((uint8_t*)(uintptr_t)header + kSpoolHeaderBytes +
                              (uint64_t)number * kSpoolChunkBytes);
}

struct Areas {
  const struct SpoolHeader* header;
  uint32_t next, steps;
};
static inline struct Areas all_areas(const struct SpoolHeader* header) {
  return (struct Areas){header, __atomic_load_n(&header->areas, __ATOMIC_ACQUIRE), 0};
}
/* The number of its first chunk; false: that was all. */
static inline bool next_area(struct Areas* areas, uint32_t* number) {
  if (areas->next == 0 || areas->next > areas->header->chunk_count ||
      areas->steps++ == areas->header->chunk_count)
    return false;
  *number = areas->next - 1;
  areas->next = ((const struct SpoolArea*)(spool_chunk(areas->header, *number) + 1))->next_area;
  return true;
}

/* At the start of the area whose first chunk is `number`. */
static inline struct Walk walk_area(const struct SpoolHeader* header, uint32_t number) {
  const struct SpoolChunk* chunk = spool_chunk(header, number);
  const struct SpoolArea* area = (const struct SpoolArea*)(chunk + 1);
  return (struct Walk){header, number, chunk->first, 0,
                       __atomic_load_n(&area->end, __ATOMIC_ACQUIRE)};
}

/* NULL: that was all. */
static inline struct SpoolRecord* walk_next(struct Walk* walk) {
  for (;;) {
    if (((uint64_t)walk->chunk << 32 | walk->offset) == walk->end) return NULL;
    struct SpoolChunk* chunk = spool_chunk(walk->header, walk->chunk);
    struct SpoolRecord* record = (struct SpoolRecord*)((uint8_t*)chunk + walk->offset);
    const bool fits = walk->offset + sizeof *record <= kSpoolChunkBytes;
    const uint32_t bytes = fits ? record->words * 8u : 0;
    if (fits && record->kind != kSpoolEndOfChunk && bytes >= sizeof *record &&
        walk->offset + bytes <= kSpoolChunkBytes) {
      walk->offset += bytes;
      return record;
    }
    if (chunk->next == 0 || chunk->next > walk->header->chunk_count ||
        ++walk->steps > walk->header->chunk_count)
      return NULL;
    walk->chunk = chunk->next - 1;
    walk->offset = spool_chunk(walk->header, walk->chunk)->first;
    if (walk->offset > kSpoolChunkBytes) return NULL;
  }
}
