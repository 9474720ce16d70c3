// SPDX-License-Identifier: Apache-2.0
// I/O as tables for pages and documents: totals and bytes over time, layers, functions with their
// latency, files, processes. Pure: any thread.
#pragma once

#include <vector>

#include "report/io_profile.h"
#include "report/report_table.h"

namespace fathom {

// Tables without rows are left out.
std::vector<ReportTable> io_tables(const IoProfile& profile);

}  // namespace fathom
