// SPDX-License-Identifier: Apache-2.0
// Finds the driver call that each piece of work on a device came from. CUPTI could tell, but only
// with a record for every call, which costs a launch as much again; so work is joined by order: of
// one process, what has the same kernel and shape (or direction and bytes) ran in the order in
// which it was asked for. Belongs to one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace fathom {

class LaunchJoin {
 public:
  // A call that starts work which `key` describes; its number, which both will have.
  int64_t called(int64_t pid, std::string_view key, int64_t start_ns);
  // Work that began then; none: no call is known that it can come from.
  std::optional<int64_t> ran(int64_t pid, std::string_view key, int64_t start_ns);
  // The same of a graph's, all of whose parts CUPTI gives one number.
  std::optional<int64_t> ran_in_graph(int64_t pid, int64_t cupti, int64_t start_ns);

  // What a thread asks for while it captures does not run: it becomes part of a graph.
  void capture(int64_t pid, int64_t tid, bool begins);
  [[nodiscard]] bool captures(int64_t pid, int64_t tid) const {
    return capturing_.contains({pid, tid});
  }

  static constexpr std::string_view kGraph = "graph";
  static constexpr size_t kMostWaiting = 1'000'000;
  [[nodiscard]] size_t waiting() const { return count_; }

 private:
  struct Asked {
    int64_t number = 0, start_ns = 0;
  };
  std::map<std::pair<int64_t, std::string>, std::deque<Asked>, std::less<>> waiting_;
  std::map<std::pair<int64_t, int64_t>, int64_t> graphs_;  // by process and CUPTI's number
  std::set<std::pair<int64_t, int64_t>> capturing_;
  size_t count_ = 0;  // of all that wait
  int64_t last_ = 0;
};

}  // namespace fathom
