// SPDX-License-Identifier: Apache-2.0
// Attached processes whose /proc/PID/io cannot be read, and what that means for sums over all
// processes. Recorder thread only.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace fathom {

class HiddenIo {
 public:
  void add(const std::string& name, int64_t pid);
  [[nodiscard]] bool any() const { return !processes_.empty(); }
  // Root lacks the I/O of a few processes, other users that of most: there is no sum then, for a
  // small part would be mistaken for all.
  [[nodiscard]] bool forbids_sums() const;
  // Which processes are missing, of so many, and why.
  [[nodiscard]] std::string text(int64_t processes) const;

 private:
  std::set<std::string> processes_;
};

}  // namespace fathom
