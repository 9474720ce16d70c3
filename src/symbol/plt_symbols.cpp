// SPDX-License-Identifier: Apache-2.0
#include "symbol/plt_symbols.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <unordered_map>

namespace fathom {
namespace {

constexpr uint64_t kMaxPltBytes = 16 << 20;
constexpr uint64_t kMaxRelocationBytes = 64 << 20;

template <class Entry>
Entry entry_at(std::string_view bytes, size_t index) {
  Entry entry;
  std::memcpy(&entry, bytes.data() + index * sizeof entry, sizeof entry);
  return entry;
}

// From a slot of the global offset table to the symbol (its index in .dynsym) that it is for.
using Slots = std::unordered_map<uint64_t, uint32_t>;

Status collect_slots(const ElfFile& elf, Slots& slots) {
  for (const ElfSection& section : elf.sections()) {
    if (section.type != SHT_RELA || (section.flags & SHF_ALLOC) == 0) continue;
    if (section.size > kMaxRelocationBytes) continue;
    TRY(elf.for_each_piece(section, sizeof(Elf64_Rela), [&](std::string_view bytes) {
      for (size_t i = 0; i < bytes.size() / sizeof(Elf64_Rela); ++i) {
        const auto relocation = entry_at<Elf64_Rela>(bytes, i);
        const auto type = ELF64_R_TYPE(relocation.r_info);
        if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)
          slots.emplace(relocation.r_offset, static_cast<uint32_t>(ELF64_R_SYM(relocation.r_info)));
      }
    }));
  }
  return {};
}

// Where the stub at `address` jumps through: jmp *offset(%rip), after an optional endbr64 and bnd.
std::optional<uint64_t> slot_of_stub(std::string_view code, uint64_t address) {
  size_t at = 0;
  if (code.starts_with("\xf3\x0f\x1e\xfa")) at += 4;
  if (code.size() > at && code[at] == '\xf2') ++at;
  if (code.size() < at + 6 || code[at] != '\xff' || code[at + 1] != '\x25') return std::nullopt;
  int32_t offset = 0;
  std::memcpy(&offset, code.data() + at + 2, sizeof offset);
  return address + at + 6 + static_cast<uint64_t>(int64_t{offset});
}

class StubNames {
 public:
  StubNames(std::string symbols, std::string_view names)
      : symbols_(std::move(symbols)), names_(names) {}

  [[nodiscard]] std::string_view name(uint32_t index) const {
    if (index >= symbols_.size() / sizeof(Elf64_Sym)) return {};
    const auto symbol = entry_at<Elf64_Sym>(symbols_, index);
    if (symbol.st_name >= names_.size()) return {};
    const char* text = names_.data() + symbol.st_name;
    return {text, strnlen(text, names_.size() - symbol.st_name)};
  }

 private:
  std::string symbols_;
  std::string_view names_;
};

void add_stubs(const ElfSection& section, std::string_view code, const Slots& slots,
               const StubNames& names, SymbolTableBuilder& builder) {
  // Stubs are 16 bytes, but 8 in a .plt.got without endbr64.
  const uint64_t step = section.entry_bytes == 8 ? 8 : 16;
  for (uint64_t at = 0; at + step <= code.size(); at += step) {
    const auto slot = slot_of_stub(code.substr(at, step), section.address + at);
    if (!slot) continue;
    const auto found = slots.find(*slot);
    if (found == slots.end()) continue;
    const std::string_view name = names.name(found->second);
    if (!name.empty() && name.size() < SymbolTableBuilder::kMaxNameBytes)
      builder.add(section.address + at, step, SymbolRank::kGlobal, std::string(name) + "@plt");
  }
}

}  // namespace

Status add_plt_symbols(const ElfFile& elf, std::string_view names, SymbolTableBuilder& builder) {
  if (elf.machine() != EM_X86_64) return {};
  const ElfSection* symbols = elf.section_of_type(SHT_DYNSYM);
  if (symbols == nullptr || symbols->type == SHT_NOBITS) return {};
  Slots slots;
  std::optional<StubNames> stubs;
  for (const char* name : {".plt", ".plt.sec", ".plt.got"}) {
    const ElfSection* section = elf.section(name);
    if (section == nullptr || section->type != SHT_PROGBITS || section->size > kMaxPltBytes)
      continue;
    if (slots.empty()) TRY(collect_slots(elf, slots));
    if (slots.empty()) return {};
    if (!stubs) {
      TRY_ASSIGN(std::string table, elf.contents(*symbols));
      stubs.emplace(std::move(table), names);
    }
    TRY_ASSIGN(const std::string code, elf.contents(*section));
    add_stubs(*section, code, slots, *stubs, builder);
  }
  return {};
}

}  // namespace fathom
