// SPDX-License-Identifier: Apache-2.0
// Folded stacks, "process;main;work 17", as flame-graph scripts, speedscope and inferno read them
// and `fathom import` does. Sorted; suffixes _[k], _[i] and _[j] mark kernel, inlined and Java
// frames.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_folded_report(ProfileSources sources, const ReportOptions& options);

}  // namespace fathom
