// SPDX-License-Identifier: Apache-2.0
// Runs the instructions of a CIE or FDE and gives out rules by address. Unchecked bytes: work is
// linear in the program's size, memory bounded; what cannot be read becomes a rule without
// information from there on. One thread each.
#pragma once

#include <cstdint>

#include "symbol/cfi_reader.h"
#include "symbol/unwind_rule.h"

namespace fathom {

class CfiRowSink {
 public:
  virtual ~CfiRowSink() = default;
  // The rule holds from `start` on. Starts rise within an FDE and lie inside it.
  virtual void row(uint64_t start, const UnwindRule& rule) = 0;
};

enum class CfiVerdict {
  kGood,
  kPartly,  // some register or frame address is said in a way we do not read
  kBad      // cut, or an instruction we do not know: nothing is known from there on
};

// The rule at the start of each FDE of this CIE.
CfiVerdict run_cie_program(const CfiCie& cie, UnwindRule& initial);

CfiVerdict run_fde_program(const CfiCie& cie, const UnwindRule& initial, const CfiFde& fde,
                           CfiRowSink& rows);

}  // namespace fathom
