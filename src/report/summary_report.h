// SPDX-License-Identifier: Apache-2.0
// The summary on a terminal: at most 80 columns wide where the terminal is no wider. Other formats
// take the same words.
#pragma once

#include "report/label_lines.h"
#include "report/report.h"
#include "report/summary.h"

namespace fathom {

Status write_summary_report(const Recording& recording, const ReportOptions& options);

// What stands on the screen, not yet laid out.
struct SummaryLines {
  std::vector<std::string> facts;  // how it ended, how long it took, its processes
  bool ended_well = false;
  std::vector<LabelLine> lines;
};
SummaryLines summary_lines(const Summary& summary);

}  // namespace fathom
