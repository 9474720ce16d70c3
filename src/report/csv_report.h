// SPDX-License-Identifier: Apache-2.0
// One table of a recording as CSV (RFC 4180) with a header line; absent values are empty.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_csv_report(const Recording& recording, const ReportOptions& options);

}  // namespace fathom
