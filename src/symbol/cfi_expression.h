// SPDX-License-Identifier: Apache-2.0
// The DWARF expressions that compilers and linkers put into call frame information, turned into
// rules: a register and an offset, one load from there and a constant, and the stub rule of the
// PLT. Anything else is reported as not usable; nothing is interpreted while unwinding. Pure
// functions over unchecked bytes: any thread.
#pragma once

#include "symbol/cfi_cursor.h"
#include "symbol/unwind_rule.h"

namespace fathom {

// Sets the CFA part of the rule, to kUnsupported where the expression is none of ours. Returns
// whether it is.
bool set_cfa_expression(ByteSpan expression, UnwindRule& rule);

// Where a register is saved (or, with `is_value`, what it was); kUnusable where we cannot tell.
Slot slot_from_expression(ByteSpan expression, bool is_value);

}  // namespace fathom
