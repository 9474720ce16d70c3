// SPDX-License-Identifier: Apache-2.0
// A table of functions by own weight, each share with its 95 % interval.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_top_report(ProfileSources sources, const ReportOptions& options);

}  // namespace fathom
