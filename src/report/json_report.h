// SPDX-License-Identifier: Apache-2.0
// Run, probes, processes and the summary as one JSON document, always valid UTF-8; absent values
// are null.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_json_report(const Recording& recording, const ReportOptions& options);

}  // namespace fathom
