// SPDX-License-Identifier: Apache-2.0
// Calls and events of a whole run, added up per function and per file. Made once by a report: any
// thread may read.
#pragma once

#include <string>
#include <vector>

#include "record/call_sums.h"

namespace fathom {

struct CallTotal {
  std::string layer;
  std::string name;  // of a function or a file
  CallFigures figures;
};

struct CallTotals {
  std::vector<CallTotal> functions;  // what has a time, bytes or a file: by time, largest first
  std::vector<CallTotal> files;      // by bytes
};

Result<CallTotals> load_call_totals(const Recording& recording);

// The error of a format for calls where the recording contains none.
Error no_calls_error(const Recording& recording);

}  // namespace fathom
