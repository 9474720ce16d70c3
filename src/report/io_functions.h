// SPDX-License-Identifier: Apache-2.0
// The functions of one layer as tables for a terminal: what they moved and took, and how long
// single calls took. Pure: any thread.
#pragma once

#include <string>
#include <string_view>

#include "report/io_profile.h"
#include "report/report.h"

namespace fathom {

std::string functions_text(const IoProfile& profile, std::string_view layer,
                           const ReportOptions& options);

}  // namespace fathom
