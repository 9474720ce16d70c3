// SPDX-License-Identifier: Apache-2.0
// Calls as Perfetto reads them natively (.pftrace): a track for each thread with traced calls as
// nested slices, and a track for each layer with the bytes that counted calls moved over time.
#pragma once

#include "report/report.h"

namespace fathom {

constexpr const char* kPftraceMark = "\n";  // every packet of a trace is field 1

Status write_pftrace_report(const Recording& recording, const ReportOptions& options);

}  // namespace fathom
