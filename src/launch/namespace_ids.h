// SPDX-License-Identifier: Apache-2.0
// For a probe that is told ids by programs in a container: those that they have on this machine.
// Who lives is looked up in /proc; of the others the probe resources tells, where BPF can be had.
// Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

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
  using LookUp = std::optional<int64_t> (InnerIds::*)(const InnerIds::Key&) const;
  int64_t find(LookUp look_up, const InnerIds::Key& inside);
  void take_in(int64_t pid, uint64_t pid_namespace);

  const Target* target_ = nullptr;
  std::set<InnerIds::Key> unknown_;  // processes and threads
};

// The innermost id of "NSpid:\t123\t7" in /proc/PID/status; absent: there is no such line.
std::optional<int64_t> parse_innermost_id(std::string_view status);
// The inode of a process's pid namespace; 0: it cannot be seen.
uint64_t pid_namespace_of(const std::string& proc_folder);
uint64_t own_pid_namespace();

}  // namespace fathom
