// SPDX-License-Identifier: Apache-2.0
// Sides of a comparison that share samples, such as a configuration and the aggregate of all: only
// the configuration and the rest are independent, so what both have is subtracted from the larger
// side. Pure functions: thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/profile.h"
#include "report/profile_split.h"
#include "report/report.h"

namespace fathom {

struct Overlap {
  std::optional<uint32_t> larger = {};  // the side that the other one was subtracted from
  std::string note = {};                // for the reader; empty: the sides share nothing
};

// Runs that both sides have. Where one side has all runs of the other and more, they are removed
// from it.
Result<Overlap> separate_runs(std::vector<ProfileSource>& sources);

// Stacks that say that one side contains the other, each at least as often. Where that cannot be
// chance, or `contained` says so, the smaller side is subtracted from the larger, in
// Profile::parts, too. kInvalid where `contained` says so and it is not.
Result<Overlap> separate_stacks(ProfileSources sources, ReportOptions::Contained contained,
                                Profile& profile, std::vector<ClassSums>& sides);

}  // namespace fathom
