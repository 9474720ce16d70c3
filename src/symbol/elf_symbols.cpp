// SPDX-License-Identifier: Apache-2.0
#include "symbol/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "symbol/plt_symbols.h"
#include "symbol/xz.h"

namespace fathom {
namespace {

constexpr size_t kMaxDebugDataBytes = 64 << 20;

// The sections that hold code, by index, as (start, end); (0, 0) for others.
struct CodeSections {
  std::vector<std::pair<uint64_t, uint64_t>> ends;

  explicit CodeSections(const ElfFile& elf) {
    for (const ElfSection& section : elf.sections()) {
      const bool code = (section.flags & SHF_EXECINSTR) != 0 && (section.flags & SHF_ALLOC) != 0;
      const bool sane = section.address + section.size >= section.address;
      ends.emplace_back(code && sane ? std::pair{section.address, section.address + section.size}
                                     : std::pair<uint64_t, uint64_t>{});
    }
  }
  // The end of the code section, 0 if it is none.
  [[nodiscard]] uint64_t end_of(uint16_t index) const {
    return index < ends.size() ? ends[index].second : 0;
  }
};

// ARM's mapping symbols and the compiler's own labels say nothing.
bool is_noise(char first, char second) { return first == '$' || (first == '.' && second == 'L'); }

class Loader {
 public:
  Loader(SymbolTableBuilder& builder, ElfSymbols& result) : builder_(builder), result_(result) {}

  void add_all(const ElfFile& elf) {
    add_table(elf, SHT_SYMTAB);
    if (const auto names = add_table(elf, SHT_DYNSYM)) {
      if (!add_plt_symbols(elf, builder_.names(*names), builder_).ok()) ++result_.damaged;
    }
    add_debug_data(elf);
  }

  // The number of its string table.
  std::optional<uint32_t> add_table(const ElfFile& elf, uint32_t type) {
    const ElfSection* symbols = elf.section_of_type(type);
    if (symbols == nullptr || symbols->size < sizeof(Elf64_Sym)) return std::nullopt;
    if (symbols->entry_bytes != sizeof(Elf64_Sym) || symbols->link >= elf.sections().size()) {
      ++result_.damaged;
      return std::nullopt;
    }
    auto names = elf.contents(elf.sections()[symbols->link]);
    if (!names.ok()) {
      ++result_.damaged;
      return std::nullopt;
    }
    const CodeSections code(elf);
    const uint32_t pool = builder_.add_names(std::move(names).value());
    names_ = builder_.names(pool);
    builder_.reserve(std::min(symbols->size, elf.size()) / sizeof(Elf64_Sym));
    const auto read = elf.for_each_piece(*symbols, sizeof(Elf64_Sym), [&](std::string_view bytes) {
      for (size_t at = 0; at < bytes.size(); at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        std::memcpy(&symbol, bytes.data() + at, sizeof symbol);
        add(symbol, code, pool);
      }
    });
    if (!read.ok()) ++result_.damaged;
    if (type == SHT_SYMTAB) result_.has_symtab = true;
    return pool;
  }

 private:
  void add(const Elf64_Sym& symbol, const CodeSections& code, uint32_t pool) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if ((!function && type != STT_NOTYPE) || symbol.st_shndx == SHN_UNDEF) return;
    const uint64_t limit = code.end_of(symbol.st_shndx);
    if (!function && limit == 0) return;
    if (symbol.st_name + uint64_t{1} < names_.size() &&
        is_noise(names_[symbol.st_name], names_[symbol.st_name + 1]))
      return;
    const bool local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
    const SymbolRank rank = !function ? SymbolRank::kLabel
                            : local   ? SymbolRank::kLocal
                                      : SymbolRank::kGlobal;
    builder_.add(symbol.st_value, symbol.st_size, limit, rank, pool, symbol.st_name);
  }

  void add_debug_data(const ElfFile& elf) {
    const ElfSection* section = elf.section(".gnu_debugdata");
    if (section == nullptr || section->type == SHT_NOBITS) return;
    if (!add_packed(elf, *section).ok()) ++result_.damaged;
  }

  Status add_packed(const ElfFile& elf, const ElfSection& section) {
    TRY_ASSIGN(const std::string packed, elf.contents(section, kMaxDebugDataBytes));
    TRY_ASSIGN(std::string bytes, unpack_xz(packed, kMaxDebugDataBytes));
    TRY_ASSIGN(const ElfFile inner, ElfFile::from_memory(std::move(bytes)));
    add_table(inner, SHT_SYMTAB);  // not its own .gnu_debugdata: that would never end
    return {};
  }

  SymbolTableBuilder& builder_;
  ElfSymbols& result_;
  std::string_view names_;
};

}  // namespace

bool wants_debug_file(const ElfFile& elf) { return elf.section_of_type(SHT_SYMTAB) == nullptr; }

bool has_lines(const ElfFile& elf) {
  const ElfSection* section = elf.section(".debug_info");
  return section != nullptr && section->type != SHT_NOBITS && section->size > 0;
}

ElfSymbols load_elf_symbols(const ElfFile& elf, const ElfFile* debug_file) {
  ElfSymbols result;
  SymbolTableBuilder builder;
  Loader loader(builder, result);
  loader.add_all(elf);
  if (debug_file != nullptr) loader.add_table(*debug_file, SHT_SYMTAB);
  result.table = builder.build();
  result.refused = static_cast<int64_t>(builder.refused());
  return result;
}

}  // namespace fathom
