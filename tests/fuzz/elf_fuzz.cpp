// SPDX-License-Identifier: Apache-2.0
// Feeds the ELF reader and all that reads through it: symbols of every kind, packed tables, stubs,
// links to debug files, and the demangler with what names come out. Every symbol found must cover
// the address asked for.
#include <cstdio>
#include <cstdlib>

#include "symbol/debug_file.h"
#include "symbol/demangle.h"
#include "symbol/elf_symbols.h"

namespace fathom {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "elf_fuzz: %s\n", what);
  std::abort();
}

void check(std::string_view bytes) {
  const auto elf = ElfFile::from_memory(std::string(bytes));
  if (!elf.ok()) return;
  const ElfSymbols symbols = load_elf_symbols(elf.value());
  const SymbolTable& table = symbols.table;
  for (uint32_t i = 0; i < table.size() && i < 64; ++i) {
    const Symbol symbol = table.at(i);
    require(!symbol.name.empty(), "a symbol without a name");
    const auto found = table.find(symbol.start);
    require(found && found->start == symbol.start, "a symbol is not found at its start");
    require(!demangle(symbol.name).empty(), "a name became nothing");
  }
  for (const ElfSegment& segment : elf.value().segments())
    (void)elf.value().address_of_offset(segment.offset);
  (void)find_debug_file(elf.value(), "/usr/bin/x", {});
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fathom::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
