// SPDX-License-Identifier: Apache-2.0
// The call tree as text, heavy paths first. A call that is the only one of its caller stays in its
// column, after a "↓"; recursion is one line.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_tree_report(ProfileSources sources, const ReportOptions& options);

}  // namespace fathom
