// SPDX-License-Identifier: Apache-2.0
// Adds up callgrind's files of a run under the names that counters have elsewhere, with
// ":simulated" behind. Belongs to the recorder's thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "probe/simulate/callgrind_file.h"
#include "sink/record_stream.h"

namespace fathom {

class SimulatedSums {
 public:
  static constexpr size_t kEvents = 10;
  using Values = std::array<int64_t, kEvents>;
  static const std::array<const char*, kEvents>& names();

  void add(const CallgrindFile& file);
  // Counters per process over [start_ns, end_ns), sums per function, totals.
  void write(RecordStream& out, int64_t start_ns, int64_t end_ns) const;

  [[nodiscard]] int64_t processes() const { return static_cast<int64_t>(processes_.size()); }
  [[nodiscard]] int64_t instructions() const { return totals_[0]; }
  // About as many as the processor would take: one an instruction, ten a miss that the last cache
  // serves or a mispredicted branch, a hundred a miss of all caches (KCachegrind's estimate).
  [[nodiscard]] double estimated_cycles() const;
  // Functions add up to what Valgrind says itself.
  [[nodiscard]] bool agrees() const { return agrees_; }

 private:
  Values totals_{};
  std::map<int64_t, Values> processes_;                            // by pid
  using Node = std::tuple<std::string, std::string, std::string>;  // symbol, module, program
  void add_with_callees(const CallgrindFile& file, const std::string& program, const Values& all);

  std::map<Node, Values> functions_;
  std::map<Node, Values> with_callees_;
  bool agrees_ = true;
};

}  // namespace fathom
