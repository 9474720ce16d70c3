// SPDX-License-Identifier: Apache-2.0
// Ids that programs in a container know themselves by, as ids of this machine. Looked up while they
// live: /proc alone knows. Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "launch/launcher.h"

namespace fathom {

class NamespaceIds {
 public:
  // nullptr or a target without a namespace of its own: ids stay as they are.
  void watch(const Target* target) { target_ = target; }
  // Takes in who lives now; call it at every tick.
  void look();
  // The process, and the thread in it; what is not known (any more) stays as it is told.
  [[nodiscard]] int64_t process(uint64_t pid_namespace, int64_t pid);
  [[nodiscard]] int64_t thread(uint64_t pid_namespace, int64_t tid);
  // What is to be said of those that were not known; empty: nothing.
  [[nodiscard]] std::string missing() const;

 private:
  using Key = std::pair<uint64_t, int64_t>;  // namespace, id there
  [[nodiscard]] int64_t find(const std::map<Key, int64_t>& known, const Key& key);
  void take_in(int64_t pid, uint64_t pid_namespace);

  const Target* target_ = nullptr;
  std::map<Key, int64_t> processes_, threads_;
  int64_t unknown_ = 0;
};

// The innermost id of "NSpid:\t123\t7" in /proc/PID/status; absent: there is no such line.
std::optional<int64_t> parse_innermost_id(std::string_view status);
// The inode of a process's pid namespace; 0: it cannot be seen.
uint64_t pid_namespace_of(const std::string& proc_folder);

}  // namespace fathom
