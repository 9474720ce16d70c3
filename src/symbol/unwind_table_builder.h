// SPDX-License-Identifier: Apache-2.0
// Turns the call frame information of a module into its unwind table: FDEs sorted by address, run
// once, rows merged where the rule does not change. Input is unchecked; time and memory are linear
// in its size. Pure functions: any thread.
#pragma once

#include <vector>

#include "symbol/cfi_reader.h"
#include "symbol/unwind_table.h"

namespace fathom {

struct UnwindSource {
  struct Range {
    uint64_t start = 0;
    uint64_t end = 0;
  };
  std::vector<CfiSection> sections;  // earlier ones win where two speak of the same address
  std::vector<Range> code;           // executable; FDEs of other places are left out. Empty: all
};

UnwindTable build_unwind_table(const UnwindSource& source);

}  // namespace fathom
