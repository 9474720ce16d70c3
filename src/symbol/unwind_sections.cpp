// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_sections.h"

#include <elf.h>

#include <algorithm>
#include <optional>

namespace fathom {
namespace {

constexpr size_t kMostCodeRanges = 16;
constexpr uint64_t kMostBytes = uint64_t{256} << 20;

ByteSpan as_span(const std::string& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

void add_code(const ElfFile& elf, UnwindSource& source) {
  for (const ElfSegment& segment : elf.segments()) {
    if (segment.type != PT_LOAD || (segment.flags & PF_X) == 0) continue;
    if (source.code.size() == kMostCodeRanges) return;
    const uint64_t end = segment.address + segment.memory_bytes;
    if (end > segment.address) source.code.push_back({segment.address, end});
  }
}

const ElfSegment* loaded_segment(const ElfFile& elf, uint64_t address) {
  const auto holds = [&](const ElfSegment& segment) {
    return segment.type == PT_LOAD && address >= segment.address &&
           address - segment.address < segment.file_bytes;
  };
  const auto found = std::find_if(elf.segments().begin(), elf.segments().end(), holds);
  return found == elf.segments().end() ? nullptr : &*found;
}

// .eh_frame_hdr opens with a version, three encodings and a pointer to .eh_frame.
std::optional<uint64_t> eh_frame_address(const ElfFile& elf) {
  const auto is_header = [](const ElfSegment& segment) { return segment.type == PT_GNU_EH_FRAME; };
  const auto found = std::find_if(elf.segments().begin(), elf.segments().end(), is_header);
  if (found == elf.segments().end()) return std::nullopt;
  const auto bytes = elf.read(found->offset, std::min<uint64_t>(found->file_bytes, 16));
  if (!bytes.ok()) return std::nullopt;
  CfiCursor in(as_span(bytes.value()));
  if (in.u8() != 1) return std::nullopt;
  const uint8_t encoding = in.u8();
  in.take(2);
  return read_encoded_pointer(in, encoding, found->address + 4);
}

Status add_section(const ElfFile& elf, const ElfSection& section, bool is_debug_frame,
                   UnwindSections& to) {
  TRY_ASSIGN(std::string bytes, elf.contents(section, kMostBytes));
  to.bytes.push_back(std::move(bytes));
  to.source.sections.push_back({as_span(to.bytes.back()), section.address, is_debug_frame, false});
  return {};
}

// Without sections nobody says where .eh_frame ends: at its zero entry, or with its segment.
Status add_by_segment(const ElfFile& elf, UnwindSections& to) {
  const std::optional<uint64_t> address = eh_frame_address(elf);
  const ElfSegment* segment = address ? loaded_segment(elf, *address) : nullptr;
  if (segment == nullptr) return Error{Code::kNotFound, "no call frame information"};
  const uint64_t skipped = *address - segment->address;
  TRY_ASSIGN(std::string bytes, elf.read(segment->offset + skipped,
                                         std::min(segment->file_bytes - skipped, kMostBytes)));
  to.bytes.push_back(std::move(bytes));
  to.source.sections.push_back({as_span(to.bytes.back()), *address, false, true});
  return {};
}

bool has_bytes(const ElfSection* section) {
  return section != nullptr && section->type != SHT_NOBITS && section->size > 0;
}

}  // namespace

Status add_unwind_sections(const ElfFile& elf, UnwindSections& to) {
  if (elf.machine() != EM_X86_64)
    return Error{Code::kUnsupported, "unwinding is for x86-64 so far"};
  add_code(elf, to.source);
  const ElfSection* eh_frame = elf.section(".eh_frame");
  Status result =
      has_bytes(eh_frame) ? add_section(elf, *eh_frame, false, to) : add_by_segment(elf, to);
  const ElfSection* debug_frame = elf.section(".debug_frame");
  if (!has_bytes(debug_frame)) return result;
  const Status added = add_section(elf, *debug_frame, true, to);
  return added.ok() ? Status() : result;
}

Result<UnwindTable> unwind_table_of(const ElfFile& elf) {
  UnwindSections sections;
  TRY(add_unwind_sections(elf, sections));
  return build_unwind_table(sections.source);
}

}  // namespace fathom
