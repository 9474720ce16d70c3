// SPDX-License-Identifier: Apache-2.0
// A flame graph as one SVG file: a picture anywhere, and where scripts run also zoom and search. No
// network, no event handlers in attributes; names are only ever text.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_flamegraph_report(const Recording& recording, const ReportOptions& options);

// Stands near the beginning of every file that it writes.
constexpr const char* kFlamegraphMark = "<!-- Flame graph by fathom -->";

}  // namespace fathom
