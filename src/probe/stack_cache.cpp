// SPDX-License-Identifier: Apache-2.0
#include "probe/stack_cache.h"

#include <utility>

namespace fathom {

void StackCache::add(const Key& key, StackId stack) {
  if (used_ * 4 >= slots_.size() * 3) grow();
  put(key, stack);
}

void StackCache::put(const Key& key, StackId stack) {
  size_t at = place_of(key);
  while (slots_[at].stack != StackId::kNone) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {key, stack};
  ++used_;
}

void StackCache::clear() {
  slots_.clear();
  used_ = 0;
}

void StackCache::grow() {
  if (slots_.size() >= kMostSlots) clear();
  const size_t size = slots_.empty() ? kFirstSlots : slots_.size() * 2;
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size));
  used_ = 0;
  for (const Slot& slot : old)
    if (slot.stack != StackId::kNone) put(slot.key, slot.stack);
}

}  // namespace fathom
