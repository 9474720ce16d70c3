// SPDX-License-Identifier: Apache-2.0
// The frames of addresses asked for lately: one place an address, the newest stays. The same code
// is sampled below many callers. Belongs to one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "record/ids.h"

namespace fathom {

class RecentFrames {
 public:
  struct Entry {
    uint64_t address = 0;
    uint32_t space = 0;  // 0: empty
    FrameId frame{};
    bool named = false;
  };

  // The entry of the address, or the one that makes room for it.
  Entry& at(uint32_t space, uint64_t address) {
    if (entries_.empty()) entries_.resize(size_t{1} << kBits);
    const uint64_t mixed = (address ^ uint64_t{space} << 48) * 0x9e3779b97f4a7c15;
    return entries_[mixed >> (64 - kBits)];
  }
  void clear() { entries_.clear(); }

 private:
  static constexpr unsigned kBits = 13;
  std::vector<Entry> entries_;
};

}  // namespace fathom
