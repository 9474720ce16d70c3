// SPDX-License-Identifier: Apache-2.0
// The facts of a run as a small JSON document, for people and scripts that do not read Parquet.
#pragma once

#include <string>

#include "record/recording.h"

namespace fathom {

// {"format": 1, "run": {…}, "probes": [{…}, …]}, made from the rows of those two tables. A value
// that is absent is null.
std::string run_json(const Collected& collected);

}  // namespace fathom
