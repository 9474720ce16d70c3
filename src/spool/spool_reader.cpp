// SPDX-License-Identifier: Apache-2.0
#include "spool/spool_reader.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/saturate.h"
#include "launch/namespace_ids.h"

namespace fathom {
namespace {

constexpr size_t kHeadBytes = offsetof(SpoolHeader, chunk_state);
constexpr size_t kMostFiles = 4'000'000;

uint32_t chunk_of(uint64_t place) { return static_cast<uint32_t>(place >> 32); }
uint32_t offset_of(uint64_t place) { return static_cast<uint32_t>(place); }
uint64_t place_at(uint32_t chunk, uint32_t offset) {
  return static_cast<uint64_t>(chunk) << 32 | offset;
}

template <class Record>
Record read_record(const uint8_t* from) {
  Record record;
  std::memcpy(&record, from, sizeof record);
  return record;
}

}  // namespace

Result<std::unique_ptr<SpoolReader>> SpoolReader::open(const std::string& path) {
  TRY_ASSIGN(Fd file, open_file(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return open(std::move(file), path);
}

Result<std::unique_ptr<SpoolReader>> SpoolReader::open(Fd file, const std::string& path) {
  auto reader = std::unique_ptr<SpoolReader>(new SpoolReader(std::move(file), path));
  TRY(reader->read_head());
  return reader;
}

bool SpoolReader::read_at(uint64_t at, void* to, size_t bytes) const {
  return pread(file_.get(), to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
}

uint64_t SpoolReader::chunk_at(uint32_t number) const {
  return kSpoolHeaderBytes + static_cast<uint64_t>(number) * kSpoolChunkBytes;
}

Status SpoolReader::read_head() {
  struct stat status {};
  if (fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return Error{Code::kInvalid, path_ + " is no file", ""};
  if (!read_at(0, &header_, kHeadBytes) || header_.ready != 1)
    return Error{Code::kCorrupt, path_ + " is not whole", ""};
  const bool known =
      std::memcmp(header_.magic, SPOOL_MAGIC, sizeof header_.magic) == 0 &&
      header_.version == kSpoolVersion && header_.header_bytes == kSpoolHeaderBytes &&
      header_.chunk_bytes == kSpoolChunkBytes && header_.chunk_count <= kSpoolMostChunks &&
      header_.interval_ns > 0 && header_.names_offset >= kHeadBytes &&
      header_.names_offset <= kSpoolHeaderBytes - kSpoolNamesBytes;
  if (!known)
    return Error{Code::kInvalid, path_ + " is no spool of this version",
                 "it is read by the Fathom whose library wrote it"};
  here_ = header_.pid_namespace == own_pid_namespace();
  std::string names(kSpoolNamesBytes, '\0');
  if (!read_at(header_.names_offset, names.data(), names.size()))
    return Error{Code::kInvalid, path_ + " ends within its head", ""};
  size_t at = 0;
  for (uint32_t i = 0; i < header_.call_count; ++i) {
    const size_t end = names.find('\0', at);
    if (end == std::string::npos || end == at) break;
    calls_.emplace_back(names, at, end - at);
    at = end + 1;
  }
  buffer_.resize(kSpoolChunkBytes);
  return {};
}

bool SpoolReader::is_in_use() const {
  if (fcntl(file_.get(), F_SETLEASE, F_WRLCK) == 0) {
    (void)fcntl(file_.get(), F_SETLEASE, F_UNLCK);
    return false;
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK || !here_) return true;
  // This file system has no leases: ask for the processes that were seen.
  const auto runs = [](uint64_t pid) {
    return kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
  };
  return runs(header_.pid) || std::any_of(areas_.begin(), areas_.end(), [&](const auto& area) {
           return area.second.pid > 0 && runs(static_cast<uint64_t>(area.second.pid));
         });
}

// What changes in the header: the newest area and names, and what was lost.
bool SpoolReader::refresh() {
  SpoolHeader now;
  if (!read_at(0, &now, kHeadBytes)) {
    has_damaged_header_ = true;
    return false;
  }
  if (std::memcmp(&now, &header_, offsetof(SpoolHeader, ticks_later)) != 0 || now.ready != 1) {
    has_damaged_header_ = true;
    return true;
  }
  header_.areas = now.areas;
  header_.ticks_later = now.ticks_later;
  header_.ns_later = now.ns_later;
  std::copy(std::begin(now.lost), std::end(now.lost), std::begin(header_.lost));
  return true;
}

void SpoolReader::find_areas() {
  uint32_t next = header_.areas;
  for (uint32_t steps = 0; next != 0 && steps <= header_.chunk_count; ++steps) {
    const uint32_t number = next - 1;
    if (areas_.contains(number)) return;  // and with it all before
    std::array<uint8_t, sizeof(SpoolChunk) + sizeof(SpoolArea)> bytes{};
    if (number >= header_.chunk_count || !read_at(chunk_at(number), bytes.data(), bytes.size())) {
      ++damaged_;
      return;
    }
    const auto chunk = read_record<SpoolChunk>(bytes.data());
    Area area;
    area.number = number;
    area.place = place_at(number, chunk.first);
    areas_.emplace(number, area);
    next = read_record<SpoolArea>(bytes.data() + sizeof(SpoolChunk)).next_area;
  }
}

bool SpoolReader::has_ended(const SpoolArea& area) const {
  if (!here_ || area.pid == 0) return false;
  return syscall(SYS_tgkill, area.pid, area.tid, 0) != 0 && errno == ESRCH;
}

// How far the area may be read. Read until two looks agree: a look may fall into a change.
bool SpoolReader::set_limit(Area& area, bool all) {
  const uint64_t at = chunk_at(area.number) + sizeof(SpoolChunk);
  SpoolArea before{};
  if (!read_at(at, &before, sizeof before)) return false;
  // Nobody's for a moment: its owner has ended, and it may have been read beyond what is sealed.
  if (before.pid == 0 && !all) return false;
  const bool final = all || has_ended(before);  // asked before its end is read
  for (int tries = 0; tries < 100; ++tries) {
    SpoolArea now{};
    if (!read_at(at, &now, sizeof now)) return false;
    // Another thread may have gone on with it: then only what is sealed is certain.
    const bool taken_over = now.pid != before.pid || now.tid != before.tid;
    if (!taken_over && now.sealed == before.sealed && (!final || now.end == before.end)) {
      area.limit = final ? now.end : now.sealed;
      return true;
    }
    if (taken_over && !all) return false;  // next time
    before = now;
  }
  return false;
}

void SpoolReader::read_names() {
  uint32_t newest = 0;  // now: one that came after the head was read may be named already
  if (!read_at(offsetof(SpoolHeader, names), &newest, sizeof newest)) return;
  std::erase_if(names_open_,
                [&](uint32_t number) { return read_names_of(number) && number + 1 != newest; });
  uint32_t next = newest;
  for (uint32_t steps = 0; next != 0 && steps <= header_.chunk_count; ++steps) {
    const uint32_t number = next - 1;
    if (names_read_.contains(number)) return;  // and with it those before
    SpoolChunk chunk{};
    if (number >= header_.chunk_count || !read_at(chunk_at(number), &chunk, sizeof chunk)) {
      ++damaged_;
      return;
    }
    if (!read_names_of(number) || next == newest) names_open_.push_back(number);
    next = chunk.next;
  }
}

// True: all that was begun there is written.
bool SpoolReader::read_names_of(uint32_t number) {
  if (!read_at(chunk_at(number), buffer_.data(), buffer_.size())) return true;
  const uint32_t used =
      std::min<uint32_t>(read_record<SpoolChunk>(buffer_.data()).used, kSpoolChunkBytes);
  uint32_t& at = names_read_.try_emplace(number, sizeof(SpoolChunk)).first->second;
  bool hole = false;
  for (uint32_t here = at; here + sizeof(SpoolName) <= used;) {
    const auto name = read_record<SpoolName>(buffer_.data() + here);
    const uint64_t room = kSpoolChunkBytes - here - sizeof name;
    if (name.mark != kSpoolNameMark || name.length > std::min<uint64_t>(kSpoolMostPath, room)) {
      hole = true;  // not written yet, or never: look again next time
      here += 8;
      continue;
    }
    if (files_.size() < kMostFiles) {
      files_.try_emplace(name.file,
                         reinterpret_cast<const char*>(buffer_.data()) + here + sizeof name,
                         name.length);
    }
    here += static_cast<uint32_t>((sizeof name + name.length + 7) / 8 * 8);
    if (!hole) at = here;
  }
  return !hole;
}

void SpoolReader::drain(const TickClock& clock, bool all, SpoolListener& listener) {
  if (!refresh()) {
    ++damaged_;
    return;
  }
  find_areas();
  for (auto& [number, area] : areas_)
    if (!set_limit(area, all)) area.limit = area.place;
  read_names();  // after the limits: whatever is named before them has its name by now
  for (auto& [number, area] : areas_) walk(area, clock, listener);
}

// To the next chunk; false: there is none.
bool SpoolReader::go_on(Area& area, const SpoolChunk& chunk) {
  const uint32_t left = chunk_of(area.place);
  SpoolChunk next{};
  const bool fits = chunk.next != 0 && chunk.next <= header_.chunk_count &&
                    read_at(chunk_at(chunk.next - 1), &next, sizeof next) &&
                    next.first >= sizeof next && next.first <= kSpoolChunkBytes;
  if (!fits) {
    ++damaged_;
    area.place = area.limit;
    return false;
  }
  area.place = place_at(chunk.next - 1, next.first);
  if (left != area.number) give_back(left);
  return true;
}

void SpoolReader::walk(Area& area, const TickClock& clock, SpoolListener& listener) {
  for (uint32_t steps = 0; area.place != area.limit && steps <= header_.chunk_count; ++steps) {
    const uint32_t number = chunk_of(area.place);
    if (number >= header_.chunk_count ||
        !read_at(chunk_at(number), buffer_.data(), buffer_.size())) {
      ++damaged_;
      area.place = area.limit;
      return;
    }
    area.base_ticks = read_record<SpoolChunk>(buffer_.data()).base_ticks;
    uint32_t offset = offset_of(area.place);
    uint32_t end = kSpoolChunkBytes;
    if (chunk_of(area.limit) == number) end = std::min(end, offset_of(area.limit));
    while (offset + sizeof(SpoolRecord) <= end) {
      const auto head = read_record<SpoolRecord>(buffer_.data() + offset);
      const uint32_t bytes = head.words * 8U;
      if (head.kind == kSpoolEndOfChunk || bytes < sizeof head || offset + bytes > end) break;
      deliver(area, head, buffer_.data() + offset, clock, listener);
      offset += bytes;
    }
    area.place = place_at(number, offset);
    if (area.place == area.limit) return;
    if (!go_on(area, read_record<SpoolChunk>(buffer_.data()))) return;
  }
}

bool SpoolReader::fill_origin(const Area& area, const SpoolRecord& head, uint32_t file,
                              SpoolOrigin& to) {
  if (head.call >= calls_.size() || area.pid == 0) {
    ++damaged_;
    return false;
  }
  to.pid = area.pid;
  to.tid = area.tid;
  to.pid_namespace = here_ ? 0 : header_.pid_namespace;
  to.call = calls_[head.call];
  if (const auto name = files_.find(file); name != files_.end()) to.file = name->second;
  return true;
}

void SpoolReader::give_back(uint32_t chunk) {
  const uint8_t state = kChunkFree;
  (void)!pwrite(file_.get(), &state, 1,
                static_cast<off_t>(offsetof(SpoolHeader, chunk_state) + chunk));
}

int64_t SpoolReader::lost() const {
  int64_t sum = 0;
  for (int what = 0; what < kLossCount; ++what)
    if (what != kLostNames && what != kLostSandboxed) sum += count_or_none(header_.lost[what]);
  return sum;
}

int64_t SpoolReader::sandboxed() const { return count_or_none(header_.lost[kLostSandboxed]); }

}  // namespace fathom
