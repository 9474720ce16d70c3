// SPDX-License-Identifier: Apache-2.0
// How a run began and ended, in the words that every format uses. Pure functions: any thread.
#pragma once

#include <string>
#include <vector>

#include "report/summary.h"

namespace fathom {

// Made from another tool's file: nothing ran here.
bool imported(const Summary& summary);
// Its exit status is 0, or it was meant to end as it did.
bool ended_well(const Summary& summary);
// "exit 0", "2.8 s", "5 processes".
std::vector<std::string> run_facts(const Summary& summary);

}  // namespace fathom
