// SPDX-License-Identifier: Apache-2.0
#include "launch/inner_ids.h"

namespace fathom {

void InnerIds::Newest::add(const Key& inside, int64_t id) {
  if (!ids_.insert_or_assign(inside, id).second) return;
  added_.push_back(inside);
  if (added_.size() <= kMost) return;
  ids_.erase(added_.front());
  added_.pop_front();
}

std::optional<int64_t> InnerIds::Newest::find(const Key& inside) const {
  const auto found = ids_.find(inside);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace fathom
