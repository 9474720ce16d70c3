// SPDX-License-Identifier: Apache-2.0
// The functions with the largest sums of one event, as lines of text. Any thread.
#pragma once

#include <string>

#include "report/report.h"

namespace fathom {

// Nothing where no function has a sum of it.
Result<std::string> node_lines(const Recording& recording, std::string_view event,
                               const ReportOptions& options);

}  // namespace fathom
