// SPDX-License-Identifier: Apache-2.0
// The summary on a terminal: at most 80 columns wide where the terminal is no wider.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_summary_report(const Recording& recording, const ReportOptions& options);

}  // namespace fathom
