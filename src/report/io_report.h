// SPDX-License-Identifier: Apache-2.0
// I/O on a screen or two: totals, functions with their latencies, files, bandwidth over time, and
// who did it.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_io_report(const Recording& recording, const ReportOptions& options);

}  // namespace fathom
