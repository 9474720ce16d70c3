// SPDX-License-Identifier: Apache-2.0
// What every process has mapped, over time. Fed with events in the order of time (mmap, fork, exec,
// exit) and with /proc/PID/maps for processes that were there before; asked which module an address
// belongs to. A fork shares its parent's map until one of the two changes. Processes that ended are
// kept a while for samples that come late, then dropped. Belongs to one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

#include "base/result.h"
#include "symbol/jit_names.h"
#include "symbol/module_cache.h"
#include "symbol/timed_ranges.h"

namespace fathom {

struct Place {
  enum class Found : uint8_t { kYes, kNoProcess, kNoMapping };
  Found found = Found::kNoMapping;
  Module* module = nullptr;  // as long as its mapping
  uint64_t file_offset = 0;
  uint64_t start = 0, end = 0;  // the answer is of the same mapping from here to there
  JitNames* jit = nullptr;      // where the module has no symbols of its own
};

class AddressSpaces {
 public:
  struct Limits {
    size_t ended = 512;        // processes kept after their end
    size_t processes = 32768;  // living ones, as far as we know
    size_t ranges = 65536;     // of one process: what the kernel allows
  };

  explicit AddressSpaces(ModuleCache& modules) : modules_(modules) {}
  AddressSpaces(ModuleCache& modules, const Limits& limits) : modules_(modules), limits_(limits) {}

  // Reads what a process has mapped now.
  Status attach(int64_t pid, int64_t time_ns);
  void map(const MapEvent& told);
  void fork(int64_t parent, int64_t child, int64_t time_ns);
  void exec(int64_t pid, int64_t time_ns);
  void exit(int64_t pid, int64_t time_ns);

  // INT64_MAX: now.
  Place find(int64_t pid, uint64_t address, int64_t time_ns = INT64_MAX);

  // A number that changes whenever an address of the process may mean something else than before;
  // 0 for a process not known. A fork has its parent's number until one of the two changes.
  [[nodiscard]] uint32_t version(int64_t pid) const {
    const auto at = processes_.find(pid);
    return at == processes_.end() ? 0 : at->second.version;
  }

  [[nodiscard]] bool knows(int64_t pid) const { return processes_.contains(pid); }
  [[nodiscard]] size_t size() const { return processes_.size(); }
  [[nodiscard]] int64_t refused() const { return refused_; }

 private:
  struct Mapping {
    ModulePtr module;
    uint64_t start = 0, file_offset = 0;
  };
  using Ranges = TimedRanges<Mapping>;
  struct Process {
    std::shared_ptr<Ranges> ranges;
    std::shared_ptr<JitNames> jit;
    int64_t ended_ns = INT64_MAX;
    uint32_t version = 0;
  };

  Process& process(int64_t pid);
  Ranges& own_ranges(Process& process);
  static JitNames& jit_of(int64_t pid, Process& process);
  void note_jitdump(const MapEvent& event, Process& process);
  void drop_ended();

  ModuleCache& modules_;
  Limits limits_;
  std::unordered_map<int64_t, Process> processes_;
  std::deque<std::pair<int64_t, int64_t>> ended_;  // pid and when, oldest first
  int64_t refused_ = 0;
  uint32_t versions_ = 0;  // given out
};

}  // namespace fathom
