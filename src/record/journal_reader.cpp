// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/crc32c.h"
#include "record/journal.h"

namespace fathom {
namespace {

constexpr std::string_view kMagicBytes = "FFRM";
constexpr size_t kSearchBytes = 1 << 20;
// What may be read in vain for frames that turn out to be none: a hostile file would make it
// quadratic.
constexpr int64_t kVainFactor = 4;
constexpr int64_t kVainBytes = int64_t{64} << 20;

}  // namespace

Result<JournalReader> JournalReader::open(const std::string& path) {
  JournalReader reader;
  reader.path_ = path;
  TRY_ASSIGN(reader.file_, open_file(path, O_RDONLY));
  struct stat info {};
  if (fstat(reader.file_.get(), &info) != 0) return errno_error("stat " + path);
  if (!S_ISREG(info.st_mode)) return Error{Code::kInvalid, path + " is not a file"};
  reader.health_.file_bytes = info.st_size;
  TRY_ASSIGN(const std::string header, reader.read_bytes(0, kJournalHeaderBytes));
  if (!header.empty() &&
      !header.starts_with(kJournalMagic.substr(0, std::min(header.size(), kJournalMagic.size())))) {
    return Error{Code::kCorrupt, path + " is not a journal",
                 "import other formats with: fathom import FILE"};
  }
  constexpr std::string_view kVersion("\1\0\0\0", 4);
  static_assert(kJournalVersion == 1);
  if (header.size() == kJournalHeaderBytes && header.substr(8, 4) != kVersion) {
    return Error{Code::kUnsupported, path + " was written by a newer fathom",
                 "upgrade fathom to read it"};
  }
  TRY(reader.scan());
  return reader;
}

Status JournalReader::scan() {
  auto offset = static_cast<int64_t>(kJournalHeaderBytes);
  int64_t whole_end = std::min(offset, health_.file_bytes);
  int64_t vain_bytes = 0;
  int64_t vain_frames = 0;  // since the last whole one
  const int64_t most_vain_bytes = kVainFactor * health_.file_bytes + kVainBytes;
  while (offset < health_.file_bytes && vain_bytes < most_vain_bytes) {
    if (auto entry = check(offset, vain_bytes); entry.ok()) {
      if (offset > whole_end) {
        health_.damaged_bytes += offset - whole_end;
        ++health_.damaged_places;
        health_.damaged_frames += std::max<int64_t>(vain_frames, 1);
      }
      vain_frames = 0;
      health_.sealed = entry.value().header.sealed();
      offset += static_cast<int64_t>(kFrameHeaderBytes + entry.value().header.payload_bytes);
      whole_end = offset;
      entries_.push_back(entry.value());
    } else {
      if (begins_frame(offset)) ++vain_frames;
      TRY_ASSIGN(offset, next_magic(offset + 1));
    }
  }
  health_.frames = static_cast<int64_t>(entries_.size());
  health_.torn_bytes = health_.file_bytes - whole_end;
  health_.ends_in_frame = health_.torn_bytes > 0 && is_cut_frame(whole_end);
  return {};
}

JournalHealth JournalReader::health() const {
  JournalHealth health = health_;
  const std::lock_guard lock(senseless_->mutex);
  for (const auto& [offset, bytes] : senseless_->frames) {
    --health.frames;
    ++health.damaged_places;
    ++health.damaged_frames;
    health.damaged_bytes += bytes;
  }
  return health;
}

bool JournalReader::begins_frame(int64_t offset) const {
  const auto bytes = read_bytes(offset, kFrameHeaderBytes);
  return bytes.ok() && parse_frame_header(bytes.value()).ok();
}

bool JournalReader::is_cut_frame(int64_t offset) const {
  const auto bytes = read_bytes(offset, kFrameHeaderBytes);
  if (!bytes.ok()) return false;
  if (bytes.value().size() < kFrameHeaderBytes) {
    const size_t known = std::min(bytes.value().size(), kMagicBytes.size());
    return bytes.value().compare(0, known, kMagicBytes, 0, known) == 0;
  }
  const auto header = parse_frame_header(bytes.value());
  return header.ok() &&
         offset + static_cast<int64_t>(kFrameHeaderBytes) + header.value().payload_bytes >
             health_.file_bytes;
}

Result<JournalReader::Entry> JournalReader::check(int64_t offset, int64_t& vain_bytes) const {
  TRY_ASSIGN(const std::string header_bytes, read_bytes(offset, kFrameHeaderBytes));
  TRY_ASSIGN(const FrameHeader header, parse_frame_header(header_bytes));
  const int64_t start = offset + static_cast<int64_t>(kFrameHeaderBytes);
  const Error cut{Code::kCorrupt, "the frame is cut"};
  if (start + header.payload_bytes > health_.file_bytes) return cut;  // before reading all of it
  TRY_ASSIGN(const std::string payload, read_bytes(start, header.payload_bytes));
  if (payload.size() != header.payload_bytes) return cut;
  const uint32_t crc = crc32c(payload, crc32c(std::string_view(header_bytes).substr(0, 20)));
  if (crc != header.crc) {
    vain_bytes += header.payload_bytes;
    return Error{Code::kCorrupt, "the checksum differs"};
  }
  return Entry{offset, header};
}

Result<int64_t> JournalReader::next_magic(int64_t offset) const {
  while (offset < health_.file_bytes) {
    TRY_ASSIGN(const std::string bytes, read_bytes(offset, kSearchBytes));
    if (const size_t found = bytes.find(kMagicBytes); found != std::string::npos) {
      return offset + static_cast<int64_t>(found);
    }
    if (bytes.size() < kMagicBytes.size()) break;
    offset += static_cast<int64_t>(bytes.size() - kMagicBytes.size() + 1);
  }
  return health_.file_bytes;
}

Result<std::string> JournalReader::read_bytes(int64_t offset, size_t size) const {
  const int64_t left = std::max<int64_t>(0, health_.file_bytes - offset);
  std::string bytes(std::min(size, static_cast<size_t>(left)), '\0');
  size_t used = 0;
  while (used < bytes.size()) {
    const ssize_t got = pread(file_.get(), bytes.data() + used, bytes.size() - used,
                              offset + static_cast<int64_t>(used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read " + path_);
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  bytes.resize(used);
  return bytes;
}

Result<Batch> JournalReader::read(const Entry& entry, TableSet tables, Batch spare) const {
  TRY_ASSIGN(const std::string frame,
             read_bytes(entry.offset, kFrameHeaderBytes + entry.header.payload_bytes));
  auto batch = decode_frame(frame, tables, std::move(spare));
  if (batch.ok()) return batch;
  if (int64_t vain_bytes = 0; !check(entry.offset, vain_bytes).ok())
    return std::move(batch).error().within(path_ + " at byte " + std::to_string(entry.offset));
  const std::lock_guard lock(senseless_->mutex);
  senseless_->frames[entry.offset] = static_cast<int64_t>(frame.size());
  return Batch();
}

}  // namespace fathom
