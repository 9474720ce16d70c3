// SPDX-License-Identifier: Apache-2.0
// Where a program makes its calls: traced calls with a stack, added up by the innermost function
// that is not the C library's, and who called that. Made once: any thread may read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "record/call_sums.h"

namespace fathom {

struct CallSite {
  std::string place;   // "common_part"; in a stack of libraries alone, the innermost function
  std::string caller;  // the nearest other function that called it; empty: it is the first
  std::string name;    // of what was called
  CallFigures figures;
};

// Calls of one layer that `wanted` says yes to, by time, the longest first. Empty: none has a
// stack.
Result<std::vector<CallSite>> load_call_sites(
    const Recording& recording, const CallRange& range, std::string_view layer,
    const std::function<bool(std::string_view name)>& wanted);

}  // namespace fathom
