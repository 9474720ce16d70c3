// SPDX-License-Identifier: Apache-2.0
// Counted events one below the other, as perf stat prints them: count, name, rate or ratio, the
// share of time it had a counter, and why others have no count.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_stat_report(const Recording& recording, const ReportOptions& options);

}  // namespace fathom
