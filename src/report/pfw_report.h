// SPDX-License-Identifier: Apache-2.0
// Calls as .pfw, the trace format of DataCrumbs and DFTracer, which Chrome's and Perfetto's viewers
// read: one JSON object a line, without commas between. docs/formats/pfw.md tells its generations.
#pragma once

#include "report/report.h"

namespace fathom {

constexpr int kPfwGenerations = 5;  // 0 to 4
constexpr const char* kPfwMark = "[";

Status write_pfw_report(const Recording& recording, const ReportOptions& options);

}  // namespace fathom
