// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/throttle_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "probe/resources/cgroup_text.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNsPerUs = 1000;
constexpr size_t kMaxLevels = 64;

int64_t since(const Maybe& first, const Maybe& last) {
  return std::max<int64_t>(0, last.value_or(0) - first.value_or(0));
}

}  // namespace

Throttling parse_throttling(std::string_view cpu_stat) {
  Throttling found;
  found.periods = find_number(cpu_stat, "nr_periods");
  found.throttled_periods = find_number(cpu_stat, "nr_throttled");
  const Maybe us = find_number(cpu_stat, "throttled_usec");
  found.throttled_ns = us ? Maybe(*us * kNsPerUs) : find_number(cpu_stat, "throttled_time");
  return found;
}

ThrottleReader::ThrottleReader(const std::string& folder, Below below)
    : folder_(folder), below_(below) {
  if (folder_.empty()) return;
  add_level(folder_, false);
  for (fs::path above = fs::path(folder_).parent_path();
       access((above / "cgroup.procs").c_str(), F_OK) == 0; above = above.parent_path())
    add_level(above, false);
  find_below(false);
}

void ThrottleReader::add_level(const std::string& folder, bool born_now) {
  const auto same = [&](const Level& level) { return level.folder == folder; };
  if (levels_.size() >= kMaxLevels || std::any_of(levels_.begin(), levels_.end(), same)) return;
  Level level{folder, RereadFile(folder + "/cpu.stat"), {}, {}};
  level.last = parse_throttling(level.cpu_stat.read());
  if (!born_now) level.first = level.last;
  levels_.push_back(std::move(level));
}

void ThrottleReader::find_below(bool born_now) {
  if (!folder_.empty() && below_ == Below::kIncluded) add_below(folder_, born_now);
}

// A directory of cgroups has a link of each directory in it, and two of its own.
void ThrottleReader::add_below(const std::string& folder, bool born_now) {
  struct stat about {};
  if (stat(folder.c_str(), &about) != 0 || about.st_nlink <= 2) return;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_directory(error) || entry.is_symlink(error)) continue;
    add_level(entry.path(), born_now);
    add_below(entry.path(), born_now);
  }
}

void ThrottleReader::begin() {
  find_below(false);
  for (Level& level : levels_) {
    if (const Throttling now = parse_throttling(level.cpu_stat.read()); now.periods)
      level.last = now;
    level.first = level.last;
  }
}

Throttling ThrottleReader::read() {
  Throttling most;
  find_below(true);
  for (Level& level : levels_) {
    if (const Throttling now = parse_throttling(level.cpu_stat.read()); now.periods)
      level.last = now;
    if (!level.last.periods) continue;
    const int64_t periods = since(level.first.periods, level.last.periods);
    const int64_t throttled = since(level.first.throttled_periods, level.last.throttled_periods);
    const bool more = throttled > most.throttled_periods.value_or(0) ||
                      (throttled == most.throttled_periods.value_or(0) && !most.periods) ||
                      (throttled == 0 && most.periods == 0 && periods > 0);
    if (!more) continue;
    most = {periods, throttled, since(level.first.throttled_ns, level.last.throttled_ns)};
  }
  return most;
}

}  // namespace fathom
