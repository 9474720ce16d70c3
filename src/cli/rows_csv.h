// SPDX-License-Identifier: Apache-2.0
// Benchmark rows, lines of JSON as the hub gives them, as CSV: host, run and time, then a column
// for each figure that any row has, with its unit in the header. Pure but for what it reads and
// writes.
#pragma once

#include <cstdio>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace fathom {

// Reads `lines` twice from its start. A figure that a row does not have is empty there.
Status write_rows_csv(FILE* lines, const std::function<Status(std::string_view)>& write);

}  // namespace fathom
