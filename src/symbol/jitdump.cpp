// SPDX-License-Identifier: Apache-2.0
#include "symbol/jitdump.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fathom {
namespace {

constexpr uint32_t kMagic = 0x4A695444;  // "JiTD", as a little-endian writer leaves it
constexpr uint64_t kArchTimestamps = 1;
constexpr uint32_t kCodeLoad = 0, kCodeMove = 1, kCodeClose = 3;
constexpr uint32_t kMaxRecordBytes = 64 << 20;
constexpr size_t kReadBytes = 256 << 10;
constexpr size_t kMaxNameLength = 4096;

struct DumpHeader {
  uint32_t magic, version, total_size, machine, pad, pid;
  uint64_t timestamp, flags;
};

struct Prefix {
  uint32_t id, total_size;
  uint64_t timestamp;
};

struct CodeLoad {
  uint32_t pid, tid;
  uint64_t vma, address, size, index;
};

struct CodeMove {
  uint32_t pid, tid;
  uint64_t vma, old_address, new_address, size, index;
};

template <class Pod>
bool copy_start(std::string_view bytes, Pod& pod) {
  if (bytes.size() < sizeof pod) return false;
  std::memcpy(&pod, bytes.data(), sizeof pod);
  return true;
}

}  // namespace

Result<Jitdump> Jitdump::from_file(Fd file) {
  Jitdump dump;
  dump.file_ = std::move(file);
  TRY(dump.refresh());
  return dump;
}

// Records hold the code itself, which nobody needs here: read a window, use what is complete, and
// step over long records without reading them.
Status Jitdump::refresh() {
  struct stat facts {};
  if (fstat(file_.get(), &facts) != 0) return errno_error("stat jitdump");
  const auto size = static_cast<uint64_t>(facts.st_size);
  std::string bytes(kReadBytes, '\0');
  while (read_bytes_ < size && !counts_.damaged && !counts_.closed) {
    const ssize_t got =
        pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(read_bytes_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read jitdump");
    const std::string_view window(bytes.data(), static_cast<size_t>(got));
    const size_t used = take(window);
    if (used == 0) {
      Prefix prefix;
      const bool more = header_read_ && copy_start(window, prefix) &&
                        prefix.total_size > window.size() &&
                        read_bytes_ + prefix.total_size <= size;
      if (!more) return {};
      // The names of such a record stand at its start.
      take_record(prefix.id, static_cast<int64_t>(prefix.timestamp), window.substr(sizeof prefix));
      read_bytes_ += prefix.total_size;
    }
    read_bytes_ += used;
  }
  return {};
}

void Jitdump::feed(std::string_view bytes) { take(bytes); }

size_t Jitdump::take(std::string_view bytes) {
  const size_t all = bytes.size();
  if (!header_read_) {
    const size_t used = take_header(bytes);
    if (used == 0) return 0;
    bytes.remove_prefix(used);
  }
  Prefix prefix;
  while (!counts_.damaged && !counts_.closed && copy_start(bytes, prefix)) {
    if (prefix.total_size < sizeof prefix || prefix.total_size > kMaxRecordBytes) {
      counts_.damaged = true;
      break;
    }
    if (prefix.total_size > bytes.size()) break;
    take_record(prefix.id, static_cast<int64_t>(prefix.timestamp),
                bytes.substr(sizeof prefix, prefix.total_size - sizeof prefix));
    bytes.remove_prefix(prefix.total_size);
  }
  return all - bytes.size();
}

size_t Jitdump::take_header(std::string_view bytes) {
  DumpHeader header;
  if (!copy_start(bytes, header)) return 0;
  const bool sane = header.magic == kMagic && header.total_size >= sizeof header;
  if (!sane || header.total_size > bytes.size()) {
    counts_.damaged = !sane || header.total_size > kReadBytes;
    return 0;
  }
  header_read_ = true;
  arch_times_ = (header.flags & kArchTimestamps) != 0;
  return header.total_size;
}

void Jitdump::take_record(uint32_t kind, int64_t time_ns, std::string_view body) {
  // Times that go back would spoil the order of the past.
  last_time_ns_ = arch_times_ ? 0 : std::max(last_time_ns_, time_ns);
  if (kind == kCodeLoad) load(last_time_ns_, body);
  if (kind == kCodeMove) move(last_time_ns_, body);
  if (kind == kCodeClose) counts_.closed = true;
}

void Jitdump::load(int64_t time_ns, std::string_view body) {
  CodeLoad code;
  if (!copy_start(body, code)) {
    ++counts_.refused;
    return;
  }
  body.remove_prefix(sizeof code);
  const size_t length = body.find('\0');
  const bool sane = length != std::string_view::npos && length > 0 && code.size > 0 &&
                    code.address + code.size >= code.address && ranges_.size() < kMaxEntries;
  const uint32_t name =
      sane ? names_.add(body.substr(0, std::min(length, kMaxNameLength)), kMaxNameBytes) : 0;
  if (name == 0) {
    ++counts_.refused;
    return;
  }
  ranges_.set(code.address, code.address + code.size, name, time_ns);
  ++counts_.loads;
}

void Jitdump::move(int64_t time_ns, std::string_view body) {
  CodeMove code;
  const bool sane = copy_start(body, code) && code.size > 0 &&
                    code.new_address + code.size >= code.new_address &&
                    code.old_address + code.size >= code.old_address;
  const auto* range = sane ? ranges_.find(code.old_address) : nullptr;
  if (range == nullptr) {
    ++counts_.refused;
    return;
  }
  const uint32_t name = range->value;
  ranges_.clear(code.old_address, code.old_address + code.size, time_ns);
  ranges_.set(code.new_address, code.new_address + code.size, name, time_ns);
  ++counts_.moves;
}

std::optional<std::string_view> Jitdump::find(uint64_t address, int64_t time_ns) const {
  const auto* range = ranges_.find(address, arch_times_ ? INT64_MAX : time_ns);
  if (range == nullptr) return std::nullopt;
  return names_.at(range->value);
}

}  // namespace fathom
