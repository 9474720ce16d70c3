// SPDX-License-Identifier: Apache-2.0
// Memory and CPU over time in the two forms of seed 000, WaAP: output.json, a list of records, and
// stats.csv, a line a look. Figures are the container's, where the run was of one, else the
// program's. Any thread.
#pragma once

#include "report/report.h"

namespace fathom {

// [{"container_ram_usage": bytes, "cpu_utilization": % of one core, "ram_utilization": % of the
// limit or of the host's memory, "timestamp": unix seconds}, …]
Status write_waap_json(const Recording& recording, const ReportOptions& options);
// time,CPU0%,CPU1%,…,Memory%
Status write_waap_csv(const Recording& recording, const ReportOptions& options);

}  // namespace fathom
