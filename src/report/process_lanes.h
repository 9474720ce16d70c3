// SPDX-License-Identifier: Apache-2.0
// Processes as bars from start to end in as few rows as hold them: those with the most CPU time
// first; what has no room is folded into one row that says how many there were. Pure: any thread.
#pragma once

#include <string>
#include <vector>

#include "report/summary.h"

namespace fathom {

constexpr size_t kMostLanes = 16;
constexpr size_t kMostBars = 300;
constexpr size_t kFoldedBuckets = 400;

struct ProcessBar {
  size_t lane = 0;
  size_t process = 0;  // of the summary's processes
  int64_t start_ns = 0, end_ns = 0;
  bool ended = false;
};

struct ProcessLanes {
  size_t lanes = 0;
  std::vector<ProcessBar> bars;  // by start
  int64_t folded = 0;            // processes without a bar
  // Of these, how many there were in each of equal parts of the run; empty: none.
  std::vector<int64_t> folded_alive;
};

ProcessLanes lay_out_processes(const Summary& summary);

}  // namespace fathom
