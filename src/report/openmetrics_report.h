// SPDX-License-Identifier: Apache-2.0
// The last value of every gauge, and the run's figures, as OpenMetrics.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_openmetrics_report(const Recording& recording, const ReportOptions& options);

}  // namespace fathom
