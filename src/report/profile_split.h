// SPDX-License-Identifier: Apache-2.0
// The sums of a profile, class by class: of two sides, of several rates, of each run. The tree
// stays one. Needs a profile with parts. Plain data once made: any thread.
#pragma once

#include <span>
#include <vector>

#include "report/profile.h"

namespace fathom {

struct ClassSums {
  Weight all = {};
  std::vector<Weight> node_self, node_total;          // by node
  std::vector<Weight> function_self, function_total;  // by function; total once a sample
};

// `class_of_group`: of each Profile::groups; those of other events than the profile's are left out.
std::vector<ClassSums> split_profile(const Profile& profile,
                                     std::span<const uint32_t> class_of_group, size_t classes);
}  // namespace fathom
