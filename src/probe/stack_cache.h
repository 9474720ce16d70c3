// SPDX-License-Identifier: Apache-2.0
// Remembers which stack a call from a known stack leads to: (stack so far, address space, address)
// to stack. Most samples walk known paths, so this is what a sample costs: one look-up a frame.
// Open addressing, bounded, emptied when full. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "record/ids.h"

namespace fathom {

class StackCache {
 public:
  struct Key {
    uint64_t address = 0;
    uint32_t space = 0;
    StackId parent{};
    bool operator==(const Key&) const = default;
  };

  // kNone: not known.
  [[nodiscard]] StackId find(const Key& key) const {
    if (slots_.empty()) return StackId::kNone;
    for (size_t at = place_of(key);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.stack == StackId::kNone || slot.key == key) return slot.stack;
    }
  }
  // `key` must not be there.
  void add(const Key& key, StackId stack);
  void clear();
  [[nodiscard]] size_t memory_bytes() const { return slots_.size() * sizeof(Slot); }

 private:
  struct Slot {
    Key key;
    StackId stack{};
  };
  static constexpr size_t kFirstSlots = size_t{1} << 12;
  static constexpr size_t kMostSlots = size_t{1} << 19;

  [[nodiscard]] size_t place_of(const Key& key) const {
    uint64_t mixed = key.address ^ (uint64_t{key.space} << 48) ^
                     (static_cast<uint64_t>(key.parent) * 0x9E3779B97F4A7C15ULL);
    mixed = (mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93ULL;
    return (mixed ^ (mixed >> 32)) & (slots_.size() - 1);
  }
  void put(const Key& key, StackId stack);
  void grow();

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace fathom
