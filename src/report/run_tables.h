// SPDX-License-Identifier: Apache-2.0
// The tables of a run that pages and documents show, in this order: steps, programs, processes,
// functions, I/O, other calls and their files, counters, probes. A table of what was not recorded
// is not there. Any thread.
#pragma once

#include <vector>

#include "report/report_table.h"
#include "report/summary.h"

namespace fathom {

Result<std::vector<ReportTable>> run_tables(const Recording& recording, const Summary& summary);

// Where and by what it was recorded: label and text.
std::vector<std::pair<std::string, std::string>> run_origin(const Summary& summary);

}  // namespace fathom
