// SPDX-License-Identifier: Apache-2.0
// What a program did with GPUs, for a terminal.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_gpu_report(const Recording& recording, const ReportOptions& options);

}  // namespace fathom
