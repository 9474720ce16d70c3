// SPDX-License-Identifier: Apache-2.0
// Functions of Python as TAU has them: files profile.N.C.T in a folder, or pprof's table. Any
// thread.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_tau_table(const Recording& recording, const ReportOptions& options);
Status write_tau_files(const Recording& recording, const std::string& folder);

}  // namespace fathom
