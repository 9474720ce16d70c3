// SPDX-License-Identifier: Apache-2.0
#include "launch/cgroup_limits.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <vector>

#include "base/fd.h"
#include "base/text.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNoMemoryLimit = int64_t{1} << 60;  // version 1 has the largest page count

// Absent: no such file, or "max".
std::optional<int64_t> number_in(const std::string& folder, const char* file, size_t index = 0) {
  const auto text = read_file(folder + file);
  if (!text.ok()) return std::nullopt;
  std::string_view line = text.value();
  line = line.substr(0, line.find('\n'));
  const auto words = split_words(line, ' ');
  if (words.size() <= index) return std::nullopt;
  int64_t number = 0;
  const std::string_view word = words[index];
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<double> cpus_of(const std::string& folder) {
  auto quota = number_in(folder, "/cpu.max");
  auto period = number_in(folder, "/cpu.max", 1);
  if (!period) {
    quota = number_in(folder, "/cpu.cfs_quota_us");
    period = number_in(folder, "/cpu.cfs_period_us");
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<int64_t> memory_of(const std::string& folder) {
  auto bytes = number_in(folder, "/memory.max");
  if (!bytes) bytes = number_in(folder, "/memory.limit_in_bytes");
  return bytes && *bytes < kNoMemoryLimit ? bytes : std::nullopt;
}

template <class Value>
void lower(std::optional<Value>& limit, const std::optional<Value>& other) {
  if (other) limit = std::min(limit.value_or(*other), *other);
}

// The directory and those above it, as far as they are cgroups.
std::vector<std::string> levels_of(const std::string& folder) {
  std::vector<std::string> levels;
  for (fs::path at = folder; !at.empty() && access((at / "cgroup.procs").c_str(), F_OK) == 0;
       at = at.parent_path())
    levels.push_back(at);
  return levels;
}

}  // namespace

CgroupLimits read_cgroup_limits(const std::string& cpu, const std::string& memory) {
  CgroupLimits limits;
  for (const std::string& level : levels_of(cpu)) lower(limits.cpus, cpus_of(level));
  for (const std::string& level : levels_of(memory)) lower(limits.memory_bytes, memory_of(level));
  return limits;
}

std::string cgroup_limits_text(const Cgroup& cgroup) {
  CgroupLimits limits;
  for (const Cgroup::Limited& limited : cgroup.limited()) {
    const CgroupLimits more = read_cgroup_limits(limited.cpu, limited.memory);
    lower(limits.cpus, more.cpus);
    lower(limits.memory_bytes, more.memory_bytes);
  }
  std::vector<std::string> parts;
  if (limits.cpus) parts.push_back(fmt::format("cpus={:g}", *limits.cpus));
  if (limits.memory_bytes) parts.push_back(fmt::format("memory={}", *limits.memory_bytes));
  return join(parts, ",");
}

}  // namespace fathom
