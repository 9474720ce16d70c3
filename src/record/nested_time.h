// SPDX-License-Identifier: Apache-2.0
// How much of a call's time went to calls within it, found out while calls are given one after the
// other as they end: what a call contains has ended before it. Belongs to one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "record/ids.h"

namespace fathom {

class NestedTime {
 public:
  // The next call of a thread, and the time of the calls directly within it. Of more than
  // kMostCalls in one, the first may be forgotten.
  int64_t add(ThreadId thread, int64_t start_ns, int64_t duration_ns) {
    if (index_of(thread) >= ended_.size()) ended_.resize(index_of(thread) + 1);
    std::vector<Call>& ended = ended_[index_of(thread)];
    int64_t inside_ns = 0;
    while (!ended.empty() && ended.back().start_ns >= start_ns) {
      inside_ns += std::min(ended.back().duration_ns, duration_ns - inside_ns);
      ended.pop_back();
    }
    if (ended.size() == kMostCalls) ended.erase(ended.begin(), ended.begin() + kMostCalls / 2);
    ended.push_back({start_ns, duration_ns});
    return inside_ns;
  }

  static constexpr size_t kMostCalls = 2048;

 private:
  struct Call {
    int64_t start_ns, duration_ns;
  };
  std::vector<std::vector<Call>> ended_;  // by thread: those that may turn out to be within another
};

}  // namespace fathom
