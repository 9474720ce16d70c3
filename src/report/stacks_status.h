// SPDX-License-Identifier: Apache-2.0
// What the stacks probe says of itself: which rates it was asked for and got, and how reports word
// that it ran and there is no sample. Pure functions: any thread.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "record/recording.h"

namespace fathom {

struct StacksStatus {
  std::string asked;       // "at 99 Hz", "of page-faults"
  int64_t highest_hz = 0;  // 0: each event was to be a sample
  int64_t taken = 0;       // samples, also where they are not in the recording
  Maybe cpu_ns;            // of the run
};

// Nothing where the probe did not run.
std::optional<StacksStatus> stacks_status(const Collected& tables);

// A clock whose ticks were sampled, at all rates together.
struct SampledClock {
  std::string event;
  bool user_only = false;  // time in the kernel is not sampled
  double period_ns = 0;
};
// Absent where none was.
std::optional<SampledClock> sampled_clock(const Collected& tables);

// The rates that an event got, "98.9, 497.2 obtained in 12.3 s CPU time"; empty: not known.
std::string obtained_rates(const Collected& tables, const std::string& event);

// "no samples at 99 Hz", "none of 12 samples at 99 Hz is left".
std::string no_samples_text(const StacksStatus& status);
// Of a whole recording without samples.
Error no_samples_error(const std::string& path, const StacksStatus& status);

}  // namespace fathom
