/* SPDX-License-Identifier: Apache-2.0
 * Hashes of what texts are made of, by which a text that was made before is found again. */
#pragma once

#include <stdint.h>
#include <string.h>

/* Two words at a time, which do not wait for each other. */
static inline uint64_t mix(uint64_t one, uint64_t other) {
  const unsigned __int128 product =
      (unsigned __int128)(one ^ 0x9e3779b97f4a7c15u) * (other ^ 0xd1b54a32d192ed03u);
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* One after the other: little code, and none of it loses anything of the word. */
static inline uint64_t mix_next(uint64_t hash, uint64_t word) {
  const uint64_t product = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return product >> 32 | product << 32;
}

static inline uint64_t mix_text(const char* text, size_t length) {
  uint64_t hash = length, word = 0;
  for (; length >= 8; text += 8, length -= 8) {
    memcpy(&word, text, 8);
    hash = mix(hash, word);
  }
  word = 0;
  memcpy(&word, text, length);
  return mix(hash, word);
}

/* Texts by their hashes: a slot has the upper bits of one, then the number of the text. */
enum { kTextBits = 24 };
static inline uint32_t text_in_slot(const uint64_t* slot, uint64_t hash) {
  const uint64_t known = __atomic_load_n(slot, __ATOMIC_RELAXED);
  return known >> kTextBits == hash >> kTextBits ? (uint32_t)(known & ((1u << kTextBits) - 1)) : 0;
}
static inline void put_in_slot(uint64_t* slot, uint64_t hash, uint32_t text) {
  if (text != 0) __atomic_store_n(slot, hash >> kTextBits << kTextBits | text, __ATOMIC_RELAXED);
}
