// SPDX-License-Identifier: Apache-2.0
// Takes what the unwinder needs out of an ELF file (or the vdso, which is one in memory): call
// frame information, inflated where compressed, and where code lies. The file is unchecked: any
// number in it may lie. Owns the bytes it read. One thread at a time.
#pragma once

#include <deque>
#include <string>

#include "base/result.h"
#include "symbol/elf_file.h"
#include "symbol/unwind_table_builder.h"

namespace fathom {

struct UnwindSections {
  UnwindSource source;
  std::deque<std::string> bytes;  // what source.sections points into
};

// .eh_frame, by its section or, where sections are stripped, by the segment that names it; then
// .debug_frame. Call it for a module and again for its debug file, if there is one. Sections that
// cannot be read are left out; the error is the first of them, if none could.
Status add_unwind_sections(const ElfFile& elf, UnwindSections& to);

// The table of a module; kNotFound where it has no call frame information.
Result<UnwindTable> unwind_table_of(const ElfFile& elf);

}  // namespace fathom
