// SPDX-License-Identifier: Apache-2.0
#include "symbol/debug_file.h"

#include <elf.h>
#include <zlib.h>

#include <cstring>
#include <vector>

#include "symbol/target_files.h"

namespace fathom {
namespace {

constexpr const char* kDebugFolder = "/usr/lib/debug";
constexpr uint64_t kMaxLinkBytes = 8192;
constexpr uint64_t kMaxSummedBytes = uint64_t{1} << 30;

struct DebugLink {
  std::string name;
  uint32_t checksum = 0;
};

// A file name, NUL, padding to 4 bytes, CRC-32.
Result<DebugLink> debug_link(const ElfFile& elf) {
  const ElfSection* section = elf.section(".gnu_debuglink");
  if (section == nullptr) return Error{Code::kNotFound, "no .gnu_debuglink"};
  TRY_ASSIGN(const std::string bytes, elf.contents(*section, kMaxLinkBytes));
  const size_t length = strnlen(bytes.data(), bytes.size());
  const size_t at = (length + 4) & ~size_t{3};
  if (length == 0 || at + 4 > bytes.size() ||
      bytes.substr(0, length).find('/') != std::string::npos)
    return Error{Code::kCorrupt, "damaged .gnu_debuglink"};
  DebugLink link{.name = bytes.substr(0, length)};
  std::memcpy(&link.checksum, bytes.data() + at, sizeof link.checksum);
  return link;
}

bool has_checksum(const ElfFile& file, uint32_t expected) {
  if (file.size() > kMaxSummedBytes) return false;
  ElfSection whole;
  whole.type = SHT_PROGBITS;
  whole.size = file.size();
  uLong sum = crc32(0, nullptr, 0);
  const auto read = file.for_each_piece(whole, 1, [&](std::string_view bytes) {
    sum = crc32(sum, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  });
  return read.ok() && sum == expected;
}

bool has_symbols(const ElfFile& file) {
  const ElfSection* symbols = file.section_of_type(SHT_SYMTAB);
  return symbols != nullptr && symbols->size > 0;
}

Result<ElfFile> open_candidate(int root, const std::string& path) {
  TRY_ASSIGN(Fd file, open_in_root(root, path));
  TRY_ASSIGN(ElfFile elf, ElfFile::from_fd(std::move(file)));
  if (!has_symbols(elf)) return Error{Code::kNotFound, path + " has no symbols"};
  return elf;
}

Error none() { return Error{Code::kNotFound, "no separate debug file"}; }

Result<ElfFile> by_build_id(const ElfFile& elf, std::span<const int> roots) {
  const std::string id = elf.build_id_hex();
  if (id.size() < 4) return none();
  const std::string path =
      std::string(kDebugFolder) + "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
  for (const int root : roots) {
    auto found = open_candidate(root, path);
    if (found.ok() && found.value().build_id() == elf.build_id()) return found;
  }
  return none();
}

Result<ElfFile> by_link(const ElfFile& elf, const std::string& path, std::span<const int> roots) {
  TRY_ASSIGN(const DebugLink link, debug_link(elf));
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  for (const int root : roots) {
    for (const std::string& place : {folder + link.name, folder + ".debug/" + link.name,
                                     kDebugFolder + ("/" + folder) + link.name}) {
      auto found = open_candidate(root, place);
      if (!found.ok()) continue;
      const bool ours = elf.build_id().empty() ? has_checksum(found.value(), link.checksum)
                                               : found.value().build_id() == elf.build_id();
      if (ours) return found;
    }
  }
  return none();
}

}  // namespace

Result<ElfFile> find_debug_file(const ElfFile& elf, const std::string& path,
                                std::span<const int> roots) {
  if (auto found = by_build_id(elf, roots); found.ok()) return found;
  return by_link(elf, path, roots);
}

}  // namespace fathom
