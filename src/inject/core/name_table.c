/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/core/name_table.h"

#include <string.h>

#include "inject/core/raw.h"
#include "inject/core/sandbox.h"
#include "inject/core/tables.h"

enum { kSlotsFull = kNameSlots / 4 * 3, kFileBits = 24 };

/* From the hash of a name to its number: the upper bits of the hash, then the number. A name that
 * is forgotten, because the table was full, gets another number, and the reader the same name. */
static uint32_t slots_used;

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

/* Up to 8 bytes of both parts, as if they were one. */
static uint64_t word_at(const struct Name* name, size_t at, size_t bytes) {
  uint64_t word = 0;
  if (at >= name->first_length) {
    memcpy(&word, name->second + (at - name->first_length), bytes);
  } else if (at + bytes <= name->first_length) {
    memcpy(&word, name->first + at, bytes);
  } else {
    const size_t before = name->first_length - at;
    memcpy(&word, name->first + at, before);
    memcpy((char*)&word + before, name->second, bytes - before);
  }
  return word;
}

uint64_t hash_of_name(const struct Name* name, uint64_t seed) {
  const size_t length = name->first_length + name->second_length;
  uint64_t hash = mix(seed, length);
  size_t at = 0;
  for (; at + 8 <= length; at += 8) hash = mix(hash, word_at(name, at, 8));
  return mix(mix(hash, word_at(name, at, length - at)), 1);
}

uint32_t find_number(uint64_t hash) {
  for (uint32_t at = (uint32_t)(hash % kNameSlots), looked = 0; looked < kNameSlots; ++looked) {
    const uint64_t slot = __atomic_load_n(&fathom_core.tables->name_slots[at], __ATOMIC_RELAXED);
    if (slot == 0) return 0;
    if (slot >> kFileBits == hash >> kFileBits) return (uint32_t)(slot & ((1u << kFileBits) - 1));
    at = (at + 1) % kNameSlots;
  }
  return 0;
}

void keep_number(uint64_t hash, uint32_t file) {
  if (__atomic_fetch_add(&slots_used, 1, __ATOMIC_RELAXED) >= kSlotsFull) {
    for (uint32_t i = 0; i < kNameSlots; ++i)
      __atomic_store_n(&fathom_core.tables->name_slots[i], 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slots_used, 1, __ATOMIC_RELAXED);
  }
  const uint64_t value = hash >> kFileBits << kFileBits | file;
  for (uint32_t at = (uint32_t)(hash % kNameSlots);; at = (at + 1) % kNameSlots) {
    uint64_t empty = 0;
    if (__atomic_compare_exchange_n(&fathom_core.tables->name_slots[at], &empty, value, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return;
  }
}

/* As when a stream goes on to its next: no handler may come before the chunk is in its place. */
static bool add_chunk_of_names(uint32_t newest) {
  struct SpoolHeader* header = fathom_core.header;
  if (!work_begin(&fathom_thread)) return false;
  const uint64_t mask = block_signals();
  const uint32_t taken = chunk_take();
  if (taken != 0) {
    struct SpoolChunk* chunk = chunk_at(taken - 1);
    memset(chunk, 0, kSpoolChunkBytes);
    chunk->next = newest;
    chunk->first = chunk->used = sizeof *chunk;
    if (!__atomic_compare_exchange_n(&header->names, &newest, taken, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED))
      __atomic_store_n(&header->chunk_state[taken - 1], kChunkFree, __ATOMIC_RELEASE);
  }
  set_signals(mask);
  work_end();
  return taken != 0;
}

/* Room in the newest chunk of names, or in a new one. */
static struct SpoolName* reserve_name(uint32_t bytes) {
  struct SpoolHeader* header = fathom_core.header;
  for (;;) {
    uint32_t newest = __atomic_load_n(&header->names, __ATOMIC_ACQUIRE);
    if (newest != 0 && newest <= header->chunk_count) {
      struct SpoolChunk* chunk = chunk_at(newest - 1);
      const uint32_t at = __atomic_fetch_add(&chunk->used, bytes, __ATOMIC_RELAXED);
      if (at <= kSpoolChunkBytes - bytes) return (struct SpoolName*)((uint8_t*)chunk + at);
      __atomic_fetch_sub(&chunk->used, bytes, __ATOMIC_RELAXED);
    }
    if (!add_chunk_of_names(newest)) return NULL;
  }
}

struct SpoolName* add_name(const struct Name* name) {
  size_t length = name->first_length + name->second_length;
  if (length > kSpoolMostPath) length = kSpoolMostPath;
  const size_t first = name->first_length < length ? name->first_length : length;
  const uint32_t file = __atomic_fetch_add(&fathom_core.header->next_file, 1, __ATOMIC_RELAXED);
  const uint32_t bytes = (uint32_t)((sizeof(struct SpoolName) + length + 7) & ~7ull);
  struct SpoolName* to = file < 1u << kFileBits ? reserve_name(bytes) : NULL;
  if (to == NULL) {
    count_lost(kLostNames);
    return NULL;
  }
  to->file = file;
  to->length = (uint32_t)length;
  memcpy(to + 1, name->first, first);
  memcpy((char*)(to + 1) + first, name->second, length - first);
  __atomic_store_n(&to->mark, kSpoolNameMark, __ATOMIC_RELEASE);
  return to;
}

uint32_t number_of_name(const struct Name* name) {
  const uint64_t hash = hash_of_name(name, 1);
  const uint32_t known = find_number(hash);
  if (known != 0) return known;
  const struct SpoolName* added = add_name(name);
  if (added == NULL) return 0;
  keep_number(hash, added->file);
  return added->file;
}
