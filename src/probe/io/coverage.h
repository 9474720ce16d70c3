// SPDX-License-Identifier: Apache-2.0
// Finds processes of the target that the library does not record, and why: static and setuid
// programs, those of another C library, those that were started without the environment, and those
// that were started under a seccomp filter.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/proc.h"
#include "launch/launcher.h"
#include "probe/io/program_watch.h"
#include "spool/spool_folder.h"

namespace fathom {

class Coverage {
 public:
  // Before the target's first instruction: the kernel tells of every program from now on. Where it
  // does not, only those are seen that run at a tick.
  void watch(const Target& target);
  // At every tick.
  void look(const Target& target, const SpoolFolder& folder);
  // What the kernel told up to then.
  void drain(int64_t until_ns);
  // When the target has ended.
  void finish(const SpoolFolder& folder);
  [[nodiscard]] std::vector<int> wake_fds() const;
  [[nodiscard]] int64_t buffer_bytes() const { return watch_ ? watch_->buffer_bytes() : 0; }
  // For people; empty: all that was seen is covered.
  [[nodiscard]] std::string text() const;

 private:
  void note(const std::string& process, const std::string& reason);
  void judge(const ExecutedProgram& program);

  using Image = std::pair<int64_t, std::string>;  // pid and program
  std::set<Image> judged_;
  int64_t own_filters_ = read_seccomp_filters(proc_folder(getpid()));
  std::unique_ptr<ProgramWatch> watch_;        // nullptr: the kernel does not let us
  Fd root_;                                    // of the target's file system
  std::vector<ExecutedProgram> hidden_;        // of which the kernel told nothing but the name
  std::map<std::string, std::string> loaded_;  // name by path of programs that have the library
  std::map<std::string, std::set<std::string>> missing_;  // names of programs by reason
};

// Of the text of /proc/PID/maps. The loader takes ours before any other: where one is and ours is
// not, it will not come.
enum class Loaded { kOurs, kOthers, kNothingYet };
Loaded what_is_loaded(std::string_view maps);

}  // namespace fathom
