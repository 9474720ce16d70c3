// SPDX-License-Identifier: Apache-2.0
// One ELF file of a target, treated as hostile: every offset and size is checked against the file,
// and bytes are copied out with pread, never mapped, because a target may truncate the file under
// us and a mapping would then end the recorder with SIGBUS. 64-bit little-endian only; others give
// kUnsupported. Owns its descriptor or its bytes. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace fathom {

struct ElfSection {
  std::string_view name;  // lives as long as its ElfFile
  uint32_t type = 0, link = 0, info = 0;
  uint64_t flags = 0, address = 0, offset = 0, size = 0, entry_bytes = 0;
};

struct ElfSegment {
  uint32_t type = 0, flags = 0;
  uint64_t offset = 0, address = 0, file_bytes = 0, memory_bytes = 0;
};

class ElfFile {
 public:
  static Result<ElfFile> open(const std::string& path);
  static Result<ElfFile> from_fd(Fd file);
  static Result<ElfFile> from_memory(std::string bytes);

  [[nodiscard]] const std::vector<ElfSection>& sections() const { return sections_; }
  [[nodiscard]] const std::vector<ElfSegment>& segments() const { return segments_; }
  // The first of that name, or null.
  [[nodiscard]] const ElfSection* section(std::string_view name) const;
  [[nodiscard]] const ElfSection* section_of_type(uint32_t type) const;
  [[nodiscard]] uint16_t machine() const { return machine_; }
  [[nodiscard]] uint64_t size() const { return size_; }
  // Where a program starts; 0: it is none.
  [[nodiscard]] uint64_t entry() const { return entry_; }
  // Raw bytes of the GNU build id note; empty if there is none.
  [[nodiscard]] const std::string& build_id() const { return build_id_; }
  [[nodiscard]] std::string build_id_hex() const;

  // Where a byte of the file lies in the file's own address space: by the loadable segment that
  // holds it, else absent. Mappings start at page bounds, so the page a segment starts in counts.
  [[nodiscard]] std::optional<uint64_t> address_of_offset(uint64_t offset) const;

  // A copy of bytes of the file.
  [[nodiscard]] Result<std::string> read(uint64_t offset, uint64_t bytes) const;
  [[nodiscard]] Status read_into(uint64_t offset, void* to, size_t bytes) const;
  // A section's bytes, inflated where compressed (zlib); at most `limit`.
  [[nodiscard]] Result<std::string> contents(const ElfSection& section,
                                             uint64_t limit = kMaxSectionBytes) const;
  // The same in pieces of whole entries of `entry_bytes`, for tables that need not be in memory at
  // once. A cut entry at the end is left out.
  [[nodiscard]] Status for_each_piece(const ElfSection& section, size_t entry_bytes,
                                      const std::function<void(std::string_view)>& use) const;

  // -1 for bytes in memory, and once it was given back.
  [[nodiscard]] int descriptor() const { return fd_.get(); }
  // Gives the descriptor back; what was parsed stays, reads fail from now on.
  void close_file() { fd_.reset(); }

  static constexpr uint64_t kMaxSectionBytes = uint64_t{128} << 20;

 private:
  ElfFile() = default;
  Status parse();
  Status parse_sections(uint64_t offset, uint64_t count, uint32_t names_index);
  Status parse_segments(uint64_t offset, uint64_t count);
  void find_build_id();
  bool build_id_in(uint64_t offset, uint64_t bytes);

  Fd fd_;
  std::string memory_;
  uint64_t size_ = 0;
  uint64_t entry_ = 0;
  uint16_t machine_ = 0;
  std::vector<char> section_names_;
  std::vector<ElfSection> sections_;
  std::vector<ElfSegment> segments_;
  std::string build_id_;
};

std::string to_hex(std::string_view bytes);

}  // namespace fathom
