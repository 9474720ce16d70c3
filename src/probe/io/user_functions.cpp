// SPDX-License-Identifier: Apache-2.0
#include "probe/io/user_functions.h"

#include <elf.h>
#include <fmt/format.h>

#include <map>
#include <optional>

#include "base/text.h"
#include "symbol/elf_symbols.h"

namespace fathom {
namespace {

// Each is taken off by itself when the recording ends, which takes the kernel 0.1 s.
constexpr size_t kMostFunctions = 64;

std::optional<uint64_t> offset_of(const ElfFile& elf, uint64_t address) {
  for (const ElfSegment& segment : elf.segments()) {
    if (segment.type != PT_LOAD || (segment.flags & PF_X) == 0) continue;
    if (address < segment.address || address - segment.address >= segment.file_bytes) continue;
    return address - segment.address + segment.offset;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<UserFunction>> user_functions(const std::string& file,
                                                 const NamePattern& pattern) {
  auto elf = ElfFile::open(file);
  if (!elf.ok()) return std::move(elf).error().within("look for functions");
  const ElfSymbols symbols = load_elf_symbols(elf.value());
  std::map<uint64_t, std::string> found;
  for (uint32_t i = 0; i < symbols.table.size(); ++i) {
    const Symbol symbol = symbols.table.at(i);
    std::string name(symbol.name);
    if (name.ends_with("@plt") || !pattern.fits(name)) continue;
    if (const auto offset = offset_of(elf.value(), symbol.start))
      found.emplace(*offset, std::move(name));
  }
  if (found.empty())
    return Error{
        Code::kNotFound,
        fmt::format("{} has no function that fits {}", printable(file), printable(pattern.text())),
        "nm -D FILE lists them"};
  if (found.size() > kMostFunctions)
    return Error{Code::kInvalid,
                 fmt::format("{} fits {} functions of {}; {} can be had", printable(pattern.text()),
                             found.size(), printable(file), kMostFunctions),
                 "a narrower regex"};
  std::vector<UserFunction> functions;
  functions.reserve(found.size());
  for (auto& [offset, name] : found) functions.push_back({std::move(name), offset});
  return functions;
}

}  // namespace fathom
