// SPDX-License-Identifier: Apache-2.0
// What a step of the committer looks like to those who watch: one JSON object. Pure function.
#pragma once

#include <cstdint>
#include <string>

#include "store/store.h"

namespace fathom {

// The largest sums, rows, gauges and marks that were added, and where each run stands now; bounded.
std::string live_event(const Change& change, int64_t updates);

}  // namespace fathom
