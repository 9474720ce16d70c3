// SPDX-License-Identifier: Apache-2.0
// Names for the stubs through which a file calls other files: "write@plt". No symbol table has
// them, and in profiles of small functions they show.
#pragma once

#include "base/result.h"
#include "symbol/elf_file.h"
#include "symbol/symbol_table.h"

namespace fathom {

// x86-64: each stub of .plt, .plt.sec and .plt.got is decoded to the slot it jumps through, and the
// relocation of that slot names it. `names` are those of .dynsym. Other machines: nothing is added.
Status add_plt_symbols(const ElfFile& elf, std::string_view names, SymbolTableBuilder& builder);

}  // namespace fathom
