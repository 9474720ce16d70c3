// SPDX-License-Identifier: Apache-2.0
#include "symbol/perf_map.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/proc.h"
#include "base/scan.h"
#include "symbol/target_files.h"

namespace fathom {
namespace {

constexpr size_t kMaxMapLineBytes = 72 << 10;
constexpr size_t kMapReadBytes = 64 << 10;
constexpr size_t kMaxReadAtOnce = size_t{256} << 20;

std::optional<uint64_t> take_hex(std::string_view& text) {
  skip_blanks(text);
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (failed != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// By the owner of what was opened, since the path may lead elsewhere by now. A user id of the
// process may be any of the four that the kernel lists: real, effective, saved, file system. Of a
// process that has ended no user is known: then a file of our own user counts that has no other
// name.
bool owned_by_target(const Fd& file, int64_t pid) {
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) return false;
  const auto status = read_file(proc_folder(pid) + "/status");
  if (!status.ok()) return facts.st_uid == geteuid() && facts.st_nlink == 1;
  std::string_view text = status.value();
  while (auto line = take_line(text)) {
    if (!line->starts_with("Uid:")) continue;
    std::string_view ids = line->substr(4);
    while (const auto id = take_number(ids))
      if (*id == static_cast<int64_t>(facts.st_uid)) return true;
    return false;
  }
  return false;
}

Result<Fd> open_below(const Result<Fd>& root, int64_t number, int64_t pid) {
  if (!root.ok()) return Error{root.error()};
  TRY_ASSIGN(Fd file, open_in_root(root.value().get(), fmt::format("/tmp/perf-{}.map", number),
                                   LastLink::kReject));
  if (!owned_by_target(file, pid))
    return Error{Code::kPermission, "perf map belongs to another user"};
  return file;
}

}  // namespace

Result<PerfMap> PerfMap::open(int64_t pid) {
  const int64_t inner = inner_pid(pid).value_or(pid);
  auto file = open_below(open_root_of(pid), inner, pid);
  if (!file.ok()) file = open_below(open_root_of(getpid()), pid, pid);
  if (!file.ok()) return std::move(file).error();
  PerfMap map = from_file(std::move(file).value());
  TRY(map.refresh());
  return map;
}

PerfMap PerfMap::from_file(Fd file) {
  PerfMap map;
  map.file_ = std::move(file);
  return map;
}

Status PerfMap::refresh() {
  if (!file_.valid()) return {};
  struct stat facts {};
  if (fstat(file_.get(), &facts) != 0) return errno_error("stat perf map");
  const auto size = static_cast<uint64_t>(facts.st_size);
  if (size < read_bytes_) start_again();
  const uint64_t until = std::min(size, read_bytes_ + kMaxReadAtOnce);
  std::string bytes(kMapReadBytes, '\0');
  while (read_bytes_ < until) {
    const ssize_t got =
        pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(read_bytes_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read perf map");
    if (got == 0) break;
    read_bytes_ += static_cast<uint64_t>(got);
    feed(std::string_view(bytes).substr(0, static_cast<size_t>(got)));
  }
  return {};
}

void PerfMap::feed(std::string_view text) {
  while (!text.empty()) {
    const size_t length = text.find('\n');
    if (length == std::string_view::npos) {
      if (!skipping_) rest_ += text;
      if (rest_.size() > kMaxMapLineBytes) {
        skipping_ = true;
        rest_.clear();
        ++counts_.bad_lines;
      }
      return;
    }
    if (rest_.empty() && !skipping_) {
      add_line(text.substr(0, length));
    } else if (!skipping_) {
      rest_ += text.substr(0, length);
      add_line(rest_);
    }
    rest_.clear();
    skipping_ = false;
    text.remove_prefix(length + 1);
  }
}

void PerfMap::add_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return;
  const auto start = take_hex(line);
  const bool parted = start && !line.empty() && line.front() == ' ';
  const auto size = parted ? take_hex(line) : std::nullopt;
  const bool named = size && line.size() > 1 && line.front() == ' ';
  if (!named || *size == 0 || *start + *size < *start || line.size() > kMaxMapLineBytes) {
    ++counts_.bad_lines;
    return;
  }
  line.remove_prefix(1);
  const uint32_t name =
      ranges_.size() < kMaxEntries ? names_.add(line.substr(0, kMaxNameLength), kMaxNameBytes) : 0;
  if (name == 0) {
    ++counts_.refused;
    return;
  }
  ranges_.set(*start, *start + *size, name, 0);
  ++counts_.entries;
}

std::optional<std::string_view> PerfMap::find(uint64_t address) const {
  const auto* range = ranges_.find(address);
  if (range == nullptr) return std::nullopt;
  return names_.at(range->value);
}

void PerfMap::start_again() {
  read_bytes_ = 0;
  rest_.clear();
  skipping_ = false;
  ranges_ = TimedRanges<uint32_t>(0);
  names_.clear();
}

}  // namespace fathom
