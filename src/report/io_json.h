// SPDX-License-Identifier: Apache-2.0
// I/O as a JSON object: totals of one layer, every function with its latencies, the files that
// moved the most. Pure: any thread.
#pragma once

#include <string>

#include "report/io_profile.h"

namespace fathom {

// To stand in a document at a depth of two spaces. Of files only the first are listed.
std::string io_json(const IoProfile& profile);

}  // namespace fathom
