// SPDX-License-Identifier: Apache-2.0
// A run as one HTML file: what it used over time with its processes, marks and own figures on one
// axis, and tables. No network; its Content-Security-Policy lets only its own script and style in,
// by hash; names are only ever text. Without scripts the tables are there.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_html_report(const Recording& recording, const ReportOptions& options);

// Stands near the beginning of every file that it writes.
constexpr const char* kHtmlMark = "<!-- Report by fathom -->";

}  // namespace fathom
