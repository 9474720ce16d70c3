// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_join.h"

#include <algorithm>

namespace fathom {

StackJoiner::Outcome StackJoiner::add(uint64_t thread, UnwoundStack& stack) {
  const auto known = threads_.find(thread);
  ++now_;
  if (known != threads_.end()) known->second.last_seen = now_;
  if (stack.end == UnwindEnd::kRoot) {
    ++counts_.complete;
    if (known == threads_.end()) make_room();
    Thread& place = known == threads_.end() ? threads_[thread] : known->second;
    place.frames = stack.frames;
    place.last_seen = now_;
    return Outcome::kComplete;
  }
  if (stack.end == UnwindEnd::kCut && known != threads_.end() &&
      join(known->second.frames, stack)) {
    ++counts_.joined;
    return Outcome::kJoined;
  }
  ++counts_.not_joined;
  return Outcome::kNotJoined;
}

// Frame addresses rise from frame to frame except over signal stacks, so the search is a plain one,
// from the outermost frame in: a cut stack ends near the outer end.
bool StackJoiner::join(const std::vector<UnwoundFrame>& whole, UnwoundStack& stack) {
  if (stack.frames.empty()) return false;
  const UnwoundFrame last = stack.frames.back();
  if (last.cfa == 0) return false;
  const auto same = [&](const UnwoundFrame& frame) {
    return frame.cfa == last.cfa && frame.address == last.address && frame.kind == last.kind;
  };
  const auto found = std::find_if(whole.rbegin(), whole.rend(), same);
  if (found == whole.rend()) return false;
  stack.frames.insert(stack.frames.end(), found.base(), whole.end());
  return true;
}

// Half of the threads go at once, so that the cost is small per thread.
void StackJoiner::make_room() {
  if (threads_.size() < most_threads_) return;
  std::vector<uint64_t> seen;
  seen.reserve(threads_.size());
  for (const auto& [thread, state] : threads_) seen.push_back(state.last_seen);
  const auto middle = seen.begin() + static_cast<std::ptrdiff_t>(seen.size() / 2);
  std::nth_element(seen.begin(), middle, seen.end());
  std::erase_if(threads_, [&](const auto& entry) { return entry.second.last_seen <= *middle; });
}

}  // namespace fathom
