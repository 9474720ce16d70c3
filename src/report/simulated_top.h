// SPDX-License-Identifier: Apache-2.0
// The table of functions by an event that was simulated (fathom run --simulate): exact counts, so
// that there are no intervals. There is no such flame graph: callgrind knows what functions and
// calls cost, not the stacks.
#pragma once

#include "report/profile_filter.h"
#include "report/report.h"

namespace fathom {

bool asks_for_simulated(const ProfileFilter& filter);
Status write_simulated_top(ProfileSources sources, const ReportOptions& options);
// What reports about stacks answer. `path`: of a recording.
Error no_simulated_stacks(const std::string& path, const std::string& event);

}  // namespace fathom
