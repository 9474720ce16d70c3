// SPDX-License-Identifier: Apache-2.0
// Folded stacks, "process;main;work 17", as flame-graph scripts, speedscope and inferno read them
// and `fathom import` does. Sorted; suffixes _[k], _[i] and _[j] mark kernel, inlined and Java
// frames.
#pragma once

#include <string>
#include <vector>

#include "report/profile.h"
#include "report/report.h"

namespace fathom {

struct FoldedSum {
  std::string stack;
  Weight sum = {};  // weight: the figure behind the stack, samples where each stands for as much
};
// Each stack once, sorted.
std::vector<FoldedSum> folded_sums(const Profile& profile);

Status write_folded_report(ProfileSources sources, const ReportOptions& options);

}  // namespace fathom
