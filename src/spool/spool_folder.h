// SPDX-License-Identifier: Apache-2.0
// The folder into which the in-target libraries of one run put their spools, and the reading of all
// of them. In memory where the machine has a file system for that; removed with the object. Belongs
// to the recorder's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/namespace_ids.h"
#include "spool/spool_reader.h"
#include "spool/tick_clock.h"

namespace fathom {

class SpoolFolder {
 public:
  static Result<std::unique_ptr<SpoolFolder>> make();
  ~SpoolFolder();
  SpoolFolder(const SpoolFolder&) = delete;
  SpoolFolder& operator=(const SpoolFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // What a target needs in its environment, NAME=VALUE, to write here. `inside` is the folder as
  // the target sees it, `suffix` that of the library's settings (inject/core/family.h).
  [[nodiscard]] std::vector<std::string> environment(const std::string& inside,
                                                     const std::string& mode, int64_t start_ns,
                                                     int64_t interval_ns, int64_t chunks,
                                                     const std::string& suffix = "") const;

  // Of a target whose processes know themselves by other ids than ours. Kept, not owned.
  void translate(NamespaceIds& ids) { ids_ = &ids; }

  // Takes in new spools, delivers what is new in all, and removes those that nobody writes any
  // more.
  void drain(SpoolListener& listener);
  // The same for the last time: also what may still change.
  void finish(SpoolListener& listener);

  // Number of calls that the target did not write: for lack of space, and under seccomp.
  [[nodiscard]] int64_t dropped() const { return lost() + sandboxed(); }
  // What is missing and why, for people: "1,204 calls were lost: ..."; empty: nothing.
  [[nodiscard]] std::vector<std::string> missing() const;
  // Whether this program in this process had the library.
  [[nodiscard]] bool covers(int64_t pid, const std::string& program) const {
    return covered_.contains({pid, program});
  }
  // Whether a program had it whose file's name begins so.
  [[nodiscard]] bool covers_name(int64_t pid, std::string_view start) const;
  // Whether this program had it in any process.
  [[nodiscard]] bool covers_program(std::string_view program) const;

 private:
  SpoolFolder(std::string path, TickClock clock) : path_(std::move(path)), clock_(clock) {}
  void find_new();
  void read(SpoolReader& reader, bool all, SpoolListener& listener);
  void read_as(SpoolReader& reader, bool all, SpoolListener& listener);
  void let_go(const SpoolReader& reader);
  int64_t sum(int64_t before, int64_t (SpoolReader::*of)() const) const;
  [[nodiscard]] int64_t lost() const { return sum(lost_before_, &SpoolReader::lost); }
  [[nodiscard]] int64_t sandboxed() const {
    return sum(sandboxed_before_, &SpoolReader::sandboxed);
  }
  [[nodiscard]] int64_t damaged() const { return sum(damaged_before_, &SpoolReader::damaged); }

  std::string path_;
  NamespaceIds* ids_ = nullptr;
  TickClock clock_;
  std::map<std::string, std::unique_ptr<SpoolReader>> readers_;  // by file name
  std::set<std::string> refused_;     // no spools, or not of this version
  std::set<std::string> incomplete_;  // whose header is not complete, or no longer
  std::set<std::pair<int64_t, std::string>> covered_;
  int64_t seen_ = 0, lost_before_ = 0, sandboxed_before_ = 0, damaged_before_ = 0;
  int64_t damaged_headers_ = 0;  // of spools that have been read
};

}  // namespace fathom
