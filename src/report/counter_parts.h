// SPDX-License-Identifier: Apache-2.0
// Counted events and the application's own figures in few words, for the summary. Any thread.
#pragma once

#include <string>
#include <vector>

#include "report/summary.h"

namespace fathom {

// "1,054 page-faults", "1.50 instructions per cycle", "6 events not supported here"; none where no
// event was asked for.
std::vector<std::string> counter_parts(const Summary& summary);

// What the application and --exec programs told, with its last value: "loss 0.17 (peak 1)".
std::vector<std::string> told_parts(const Summary& summary);

}  // namespace fathom
