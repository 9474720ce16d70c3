// SPDX-License-Identifier: Apache-2.0
// The functions of an ELF file: .symtab, .dynsym, the compressed .gnu_debugdata that Fedora ships,
// a separate debug file if one is given, and the entries of its PLT as "name@plt". Damaged parts
// are left out and counted; what can be read is used. Pure functions: any thread.
#pragma once

#include <cstdint>

#include "symbol/elf_file.h"
#include "symbol/symbol_table.h"

namespace fathom {

struct ElfSymbols {
  SymbolTable table;
  int64_t damaged = 0;      // parts (tables, compressed data) that could not be read
  int64_t refused = 0;      // symbols without a name, out of range, or too many
  bool has_symtab = false;  // a full table was there, not only what is exported
};

// Whether the file alone lacks a full table, so that a separate debug file is worth a search.
bool wants_debug_file(const ElfFile& elf);

// Whether it has debug information.
bool has_lines(const ElfFile& elf);

ElfSymbols load_elf_symbols(const ElfFile& elf, const ElfFile* debug_file = nullptr);

}  // namespace fathom
