// SPDX-License-Identifier: Apache-2.0
// Compares the time that samples represent with the exact CPU time of the same run, programs,
// processes and threads. Where samples represent less than chance explains, their shares mislead,
// so every report states it first. Only missing time is reported, since a CPU time may itself be
// the last reading of a process, which is too low. Pure functions: thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/recording.h"
#include "record/sample_sums.h"

namespace fathom {

// Of the intervals of all comparisons of a report together.
constexpr double kCoverageConfidence = 0.999;

enum class CoverageLevel { kRun, kProgram, kProcess, kThread };
const char* coverage_level_name(CoverageLevel level);

struct CoverageGap {
  CoverageLevel level = CoverageLevel::kRun;
  std::string name;                                  // of the program or thread, as recorded
  int64_t pid = 0, tid = 0;                          // 0: of several
  int64_t processes = 0;                             // of a program
  int64_t cpu_ns = 0;                                // only user time where only that is sampled
  bool is_minimum = false;                           // it used at least that
  int64_t sampled_ns = 0;                            // represented by samples
  double expected_low_ns = 0, expected_high_ns = 0;  // of what samples represent
};

struct SampleCoverage {
  std::string event;
  bool user_only = false;  // time in the kernel is not sampled
  double period_ns = 0;    // asked for
  int64_t compared = 0;    // number of comparisons
  int64_t sampled_ns = 0;  // of all
  // Underrepresented programs; the run, processes and threads unless a program in it is listed. The
  // largest difference first.
  std::vector<CoverageGap> gaps;
};

// Absent where nothing can be compared: no clock was sampled, the recording is damaged, incomplete
// or a part. `tables` holds runs, probes, processes and, for their comparison, threads.
std::optional<SampleCoverage> sample_coverage(const Collected& tables, const SampleSums& sums);

// What reports state, the programs first and then what it means; empty: nothing is missing.
std::vector<std::string> coverage_words(const SampleCoverage& coverage);

}  // namespace fathom
