// SPDX-License-Identifier: Apache-2.0
#include "spool/launch_join.h"

#include <iterator>

#include "base/saturate.h"

namespace fathom {
namespace {

constexpr size_t kMostKinds = 10'000;
constexpr size_t kMostGraphs = 100'000;
constexpr int64_t kSlackNs = 100'000;  // between the clocks of host and device

}  // namespace

int64_t LaunchJoin::called(int64_t pid, std::string_view key, int64_t start_ns) {
  ++last_;
  const std::pair<int64_t, std::string> of(pid, key);
  auto found = waiting_.find(of);
  if (found == waiting_.end()) {
    if (waiting_.size() >= kMostKinds) return last_;
    found = waiting_.emplace(of, std::deque<Asked>{}).first;
  }
  std::deque<Asked>& asked = found->second;
  if (count_ >= kMostWaiting) {  // they do not seem to run
    if (asked.empty()) return last_;
    asked.pop_front();
    --count_;
  }
  // Threads are read one after the other.
  auto place = asked.end();
  while (place != asked.begin() && std::prev(place)->start_ns > start_ns) --place;
  asked.insert(place, {last_, start_ns});
  ++count_;
  return last_;
}

std::optional<int64_t> LaunchJoin::ran(int64_t pid, std::string_view key, int64_t start_ns) {
  const auto found = waiting_.find(std::pair<int64_t, std::string>(pid, key));
  if (found == waiting_.end() || found->second.empty()) return std::nullopt;
  const Asked first = found->second.front();
  if (difference_saturating(first.start_ns, start_ns) > kSlackNs) return std::nullopt;
  found->second.pop_front();
  --count_;
  return first.number;
}

std::optional<int64_t> LaunchJoin::ran_in_graph(int64_t pid, int64_t cupti, int64_t start_ns) {
  const auto known = graphs_.find({pid, cupti});
  if (known != graphs_.end()) return known->second;
  const auto number = ran(pid, kGraph, start_ns);
  if (!number) return number;
  if (graphs_.size() >= kMostGraphs) graphs_.clear();
  graphs_.emplace(std::pair(pid, cupti), *number);
  return number;
}

void LaunchJoin::capture(int64_t pid, int64_t tid, bool begins) {
  if (begins)
    capturing_.emplace(pid, tid);
  else
    capturing_.erase({pid, tid});
}

}  // namespace fathom
