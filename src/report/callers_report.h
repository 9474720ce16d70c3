// SPDX-License-Identifier: Apache-2.0
// Who calls a function and what it calls, for every sample that has it on its stack.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_callers_report(ProfileSources sources, const ReportOptions& options);

}  // namespace fathom
