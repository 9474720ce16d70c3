// SPDX-License-Identifier: Apache-2.0
// Bytes read and written over time, as rows of bars that fit the terminal. Pure: any thread.
#pragma once

#include <string>

#include "report/io_profile.h"
#include "report/report.h"

namespace fathom {

// Empty: nothing was moved.
std::string bandwidth_text(const IoProfile& profile, const ReportOptions& options);

}  // namespace fathom
