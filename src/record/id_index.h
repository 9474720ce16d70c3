// SPDX-License-Identifier: Apache-2.0
// Finds the number of a thing in a list that holds each thing once: open addressing over numbers
// alone, four bytes a slot, the things stay in their list. 0 stands for "none" and is never found.
// Belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom {

class IdIndex {
 public:
  // The number of `key` in `list`; appended if it is new. `hash` gives a key's hash.
  template <class Key, class Hash>
  uint32_t intern(std::vector<Key>& list, const Key& key, const Hash& hash) {
    if (list.size() * 4 >= slots_.size() * 3) grow(list, hash);
    const size_t mask = slots_.size() - 1;
    size_t at = hash(key) & mask;
    while (slots_[at] != 0) {
      if (list[slots_[at]] == key) return slots_[at];
      at = (at + 1) & mask;
    }
    slots_[at] = static_cast<uint32_t>(list.size());
    list.push_back(key);
    return slots_[at];
  }

 private:
  template <class Key, class Hash>
  void grow(const std::vector<Key>& list, const Hash& hash) {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, 0);
    const size_t mask = slots_.size() - 1;
    for (size_t id = 1; id < list.size(); ++id) {
      size_t at = hash(list[id]) & mask;
      while (slots_[at] != 0) at = (at + 1) & mask;
      slots_[at] = static_cast<uint32_t>(id);
    }
  }

  std::vector<uint32_t> slots_;
};

}  // namespace fathom
