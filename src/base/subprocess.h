// SPDX-License-Identifier: Apache-2.0
// Runs a program to its end and keeps what it said. For our own helpers and for tests, not for
// targets. Any thread; blocks.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace fathom {

struct Finished {
  int status = 0;      // exit status; 128 + signal if it was ended by one
  std::string output;  // stdout and stderr together, at most 1 MiB
};

// An error only if it could not start. stdin is /dev/null, no signal is blocked.
Result<Finished> run_to_end(const std::vector<std::string>& command);

}  // namespace fathom
