// SPDX-License-Identifier: Apache-2.0
#include "symbol/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fathom {
namespace {

constexpr uint64_t kMaxSections = 1 << 18;
constexpr uint64_t kMaxSegments = 1 << 16;
constexpr uint64_t kMaxSectionNames = 16 << 20;
constexpr uint64_t kMaxNotes = 1 << 20;
constexpr uint64_t kPageBytes = 4096;
constexpr size_t kPieceBytes = 768 << 10;

Error corrupt(std::string_view what) {
  return Error{Code::kCorrupt, "ELF file: " + std::string(what)};
}

ElfSection to_section(const Elf64_Shdr& header, std::string_view name) {
  return {.name = name,
          .type = header.sh_type,
          .link = header.sh_link,
          .info = header.sh_info,
          .flags = header.sh_flags,
          .address = header.sh_addr,
          .offset = header.sh_offset,
          .size = header.sh_size,
          .entry_bytes = header.sh_entsize};
}

// The NUL-terminated text at `offset`, empty where there is none.
std::string_view text_at(const std::vector<char>& pool, uint64_t offset) {
  if (offset >= pool.size()) return {};
  const char* start = pool.data() + offset;
  return {start, strnlen(start, pool.size() - offset)};
}

Result<std::string> inflated(std::string_view bytes, uint64_t limit) {
  Elf64_Chdr header;
  if (bytes.size() < sizeof header) return corrupt("compressed section without a header");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.ch_type != ELFCOMPRESS_ZLIB)
    return Error{Code::kUnsupported, "ELF section compressed otherwise than by zlib"};
  if (header.ch_size > limit) return corrupt("compressed section is too large");
  // zlib cannot shrink more than about 1,032 times: a larger claim is a lie.
  if (header.ch_size / 1100 > bytes.size()) return corrupt("compressed section claims too much");
  std::string out(header.ch_size, '\0');
  uLongf got = out.size();
  bytes.remove_prefix(sizeof header);
  if (uncompress(reinterpret_cast<Bytef*>(out.data()), &got,
                 reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) != Z_OK ||
      got != out.size())
    return corrupt("compressed section cannot be inflated");
  return out;
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) {
  TRY_ASSIGN(Fd file, open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  auto elf = from_fd(std::move(file));
  if (!elf.ok()) return std::move(elf).error().within(path);
  return elf;
}

Result<ElfFile> ElfFile::from_fd(Fd file) {
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) return errno_error("stat");
  if (!S_ISREG(facts.st_mode)) return Error{Code::kInvalid, "not a regular file"};
  ElfFile elf;
  elf.size_ = static_cast<uint64_t>(facts.st_size);
  elf.fd_ = std::move(file);
  TRY(elf.parse());
  return elf;
}

Result<ElfFile> ElfFile::from_memory(std::string bytes) {
  ElfFile elf;
  elf.size_ = bytes.size();
  elf.memory_ = std::move(bytes);
  TRY(elf.parse());
  return elf;
}

const ElfSection* ElfFile::section(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &ElfSection::name);
  return found == sections_.end() ? nullptr : &*found;
}

const ElfSection* ElfFile::section_of_type(uint32_t type) const {
  const auto found = std::ranges::find(sections_, type, &ElfSection::type);
  return found == sections_.end() ? nullptr : &*found;
}

std::string ElfFile::build_id_hex() const { return to_hex(build_id_); }

std::optional<uint64_t> ElfFile::address_of_offset(uint64_t offset) const {
  const ElfSegment* near = nullptr;
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_LOAD) continue;
    if (offset >= segment.offset && offset - segment.offset < segment.file_bytes)
      return offset - segment.offset + segment.address;
    const uint64_t first = segment.offset & ~(kPageBytes - 1);
    const uint64_t past =
        (segment.offset + segment.file_bytes + kPageBytes - 1) & ~(kPageBytes - 1);
    const bool executable = (segment.flags & PF_X) != 0;
    if (offset >= first && offset < past && (near == nullptr || executable)) near = &segment;
  }
  if (near == nullptr) return std::nullopt;
  return offset - near->offset + near->address;
}

Status ElfFile::read_into(uint64_t offset, void* to, size_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) return corrupt("reads past the end");
  if (bytes == 0) return {};
  if (!fd_.valid()) {
    if (memory_.size() != size_) return Error{Code::kNotFound, "ELF file was closed"};
    std::memcpy(to, memory_.data() + offset, bytes);
    return {};
  }
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = pread(fd_.get(), at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read ELF file");
    if (got == 0) return corrupt("was cut short while being read");
    at += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
  return {};
}

Result<std::string> ElfFile::read(uint64_t offset, uint64_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) return corrupt("reads past the end");
  std::string copy(bytes, '\0');
  TRY(read_into(offset, copy.data(), copy.size()));
  return copy;
}

Result<std::string> ElfFile::contents(const ElfSection& section, uint64_t limit) const {
  if (section.type == SHT_NOBITS) return corrupt("section without bytes");
  if (section.size > limit) return corrupt("section is too large");
  TRY_ASSIGN(std::string bytes, read(section.offset, section.size));
  if ((section.flags & SHF_COMPRESSED) != 0) return inflated(bytes, limit);
  return bytes;
}

Status ElfFile::for_each_piece(const ElfSection& section, size_t entry_bytes,
                               const std::function<void(std::string_view)>& use) const {
  if (section.type == SHT_NOBITS) return corrupt("section without bytes");
  if (section.offset > size_ || section.size > size_ - section.offset)
    return corrupt("section lies past the end");
  if ((section.flags & SHF_COMPRESSED) != 0) {
    TRY_ASSIGN(const std::string bytes, contents(section));
    use(std::string_view(bytes).substr(0, bytes.size() / entry_bytes * entry_bytes));
    return {};
  }
  const uint64_t piece = std::max<uint64_t>(kPieceBytes / entry_bytes, 1) * entry_bytes;
  const uint64_t whole = section.size / entry_bytes * entry_bytes;
  std::string bytes(std::min(piece, whole), '\0');
  for (uint64_t done = 0; done < whole; done += piece) {
    bytes.resize(std::min(piece, whole - done));
    TRY(read_into(section.offset + done, bytes.data(), bytes.size()));
    use(bytes);
  }
  return {};
}

Status ElfFile::parse() {
  Elf64_Ehdr header;
  if (size_ < SELFMAG) return corrupt("too short");
  std::memset(&header, 0, sizeof header);
  TRY(read_into(0, &header, std::min<uint64_t>(size_, sizeof header)));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return Error{Code::kInvalid, "not an ELF file"};
  if (size_ < sizeof header) return corrupt("cut in its header");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return Error{Code::kUnsupported, "ELF file is not 64-bit little-endian"};
  machine_ = header.e_machine;
  entry_ = header.e_entry;

  Elf64_Shdr first{};
  const bool has_sections = header.e_shoff != 0 && header.e_shentsize == sizeof(Elf64_Shdr);
  if (has_sections && !read_into(header.e_shoff, &first, sizeof first).ok()) first = {};
  // Counts that do not fit the header stand in section 0.
  const uint64_t segments = header.e_phnum == PN_XNUM ? first.sh_info : header.e_phnum;
  const uint64_t sections = header.e_shnum == 0 ? first.sh_size : header.e_shnum;
  const uint32_t names = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
  if (header.e_phoff != 0 && header.e_phentsize == sizeof(Elf64_Phdr))
    TRY(parse_segments(header.e_phoff, segments));
  if (has_sections) TRY(parse_sections(header.e_shoff, sections, names));
  find_build_id();
  return {};
}

Status ElfFile::parse_segments(uint64_t offset, uint64_t count) {
  if (count > kMaxSegments) return corrupt("too many segments");
  TRY_ASSIGN(const std::string bytes, read(offset, count * sizeof(Elf64_Phdr)));
  segments_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    Elf64_Phdr header;
    std::memcpy(&header, bytes.data() + i * sizeof header, sizeof header);
    segments_.push_back({.type = header.p_type,
                         .flags = header.p_flags,
                         .offset = header.p_offset,
                         .address = header.p_vaddr,
                         .file_bytes = header.p_filesz,
                         .memory_bytes = header.p_memsz});
  }
  return {};
}

Status ElfFile::parse_sections(uint64_t offset, uint64_t count, uint32_t names_index) {
  if (count > kMaxSections) return corrupt("too many sections");
  // A file cut at its end, where sections stand, is still good for what its segments say.
  auto bytes = read(offset, count * sizeof(Elf64_Shdr));
  if (!bytes.ok()) return segments_.empty() ? Status(std::move(bytes).error()) : Status();
  std::vector<Elf64_Shdr> headers(count);
  if (count > 0) std::memcpy(headers.data(), bytes.value().data(), bytes.value().size());
  if (names_index < count && headers[names_index].sh_type != SHT_NOBITS &&
      headers[names_index].sh_size <= kMaxSectionNames) {
    const Elf64_Shdr& names = headers[names_index];
    section_names_.resize(names.sh_size);
    if (!read_into(names.sh_offset, section_names_.data(), section_names_.size()).ok())
      section_names_.clear();
  }
  sections_.reserve(count);
  for (const Elf64_Shdr& header : headers)
    sections_.push_back(to_section(header, text_at(section_names_, header.sh_name)));
  return {};
}

void ElfFile::find_build_id() {
  for (const ElfSegment& segment : segments_)
    if (segment.type == PT_NOTE && build_id_in(segment.offset, segment.file_bytes)) return;
  for (const ElfSection& section : sections_)
    if (section.type == SHT_NOTE && build_id_in(section.offset, section.size)) return;
}

bool ElfFile::build_id_in(uint64_t offset, uint64_t bytes) {
  if (bytes > kMaxNotes) return false;
  const auto notes = read(offset, bytes);
  if (!notes.ok()) return false;
  std::string_view rest = notes.value();
  Elf64_Nhdr note;
  while (rest.size() >= sizeof note) {
    std::memcpy(&note, rest.data(), sizeof note);
    rest.remove_prefix(sizeof note);
    const uint64_t name_bytes = (uint64_t{note.n_namesz} + 3) & ~uint64_t{3};
    const uint64_t value_bytes = (uint64_t{note.n_descsz} + 3) & ~uint64_t{3};
    if (name_bytes + note.n_descsz > rest.size()) return false;
    if (note.n_type == NT_GNU_BUILD_ID &&
        rest.substr(0, note.n_namesz) == std::string_view("GNU\0", 4) && note.n_descsz > 0 &&
        note.n_descsz <= 64) {
      build_id_ = rest.substr(name_bytes, note.n_descsz);
      return true;
    }
    rest.remove_prefix(std::min<uint64_t>(name_bytes + value_bytes, rest.size()));
  }
  return false;
}

std::string to_hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

}  // namespace fathom
