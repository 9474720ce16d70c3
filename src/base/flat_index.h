// SPDX-License-Identifier: Apache-2.0
// From 64-bit keys to small numbers, by open addressing: a lookup is one or two cache lines. For
// indexes that are built once and asked millions of times. The key 0 is not allowed. Belongs to one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fathom {

class FlatIndex {
 public:
  explicit FlatIndex(size_t expected = 0) {
    size_t size = 1024;
    while (size < 2 * expected) size *= 2;
    slots_.resize(size);
  }

  // The number of a key and whether it was added, with `fresh` as its number.
  std::pair<uint32_t, bool> insert(uint64_t key, uint32_t fresh) {
    if (2 * used_ >= slots_.size()) grow();
    Slot& slot = place(key);
    if (slot.key == key) return {slot.number, false};
    slot = {key, fresh};
    ++used_;
    return {fresh, true};
  }
  // Room for so many keys more.
  void reserve(size_t more) {
    while (2 * (used_ + more) >= slots_.size()) grow();
  }
  // Says that a key will be asked for soon.
  void prefetch(uint64_t key) const { __builtin_prefetch(&slots_[home(key)]); }
  // nullptr: no such key.
  [[nodiscard]] const uint32_t* find(uint64_t key) const {
    const Slot& slot = const_cast<FlatIndex*>(this)->place(key);
    return slot.key == key ? &slot.number : nullptr;
  }

 private:
  struct Slot {
    uint64_t key = 0;  // 0: free
    uint32_t number = 0;
  };

  [[nodiscard]] size_t home(uint64_t key) const {
    uint64_t hash = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
    return hash & (slots_.size() - 1);
  }

  Slot& place(uint64_t key) {
    size_t at = home(key);
    while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }

  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
    for (const Slot& slot : old) {
      if (slot.key != 0) place(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

// Numbers for pairs, from 1 in the order they are first asked for.
class PairIndex {
 public:
  // The number of the pair and whether it is new. One of the two is not 0.
  std::pair<uint32_t, bool> number(uint32_t first, uint32_t second) {
    const auto found = index_.insert(uint64_t{first} << 32 | second, count_ + 1);
    if (found.second) ++count_;
    return found;
  }
  // Says that a pair will be asked for soon.
  void prefetch(uint32_t first, uint32_t second) const {
    index_.prefetch(uint64_t{first} << 32 | second);
  }

 private:
  FlatIndex index_;
  uint32_t count_ = 0;
};

}  // namespace fathom
