// SPDX-License-Identifier: Apache-2.0
#include "launch/inner_ids.h"

namespace fathom {

void InnerIds::Newest::add(const Key& inside, int64_t id) {
  Known& known = ids_[inside];
  if (known.id == id) return;
  known = {id, ++turns_};
  added_.emplace_back(inside, turns_);
  if (added_.size() <= kMost) return;
  const auto& [oldest, turn] = added_.front();
  if (const auto found = ids_.find(oldest); found != ids_.end() && found->second.turn == turn)
    ids_.erase(found);
  added_.pop_front();
}

std::optional<int64_t> InnerIds::Newest::find(const Key& inside) const {
  const auto found = ids_.find(inside);
  return found == ids_.end() ? std::nullopt : std::optional(found->second.id);
}

}  // namespace fathom
