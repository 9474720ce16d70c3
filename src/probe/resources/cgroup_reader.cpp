// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/cgroup_reader.h"

#include <charconv>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/proc_system.h"

namespace fathom {
namespace {

constexpr int64_t kNsPerUs = 1000;

Maybe number_of(std::string_view text) {
  int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
    return std::nullopt;
  return value;
}

Maybe read_number(const std::string& path) {
  const auto text = read_file(path);
  return text.ok() ? number_of(text.value()) : std::nullopt;
}

// The number after `name` and a blank or '=' in a text of such pairs, at the start of a line or
// after a blank.
Maybe find_number(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool starts = at == 0 || text[at - 1] == '\n' || text[at - 1] == ' ';
    const size_t end = at + name.size();
    if (starts && end < text.size() && (text[end] == ' ' || text[end] == '='))
      return number_of(text.substr(end + 1));
  }
  return std::nullopt;
}

Maybe times(const Maybe& value, int64_t factor) {
  return value ? Maybe(*value * factor) : std::nullopt;
}

// Sums name=value over the devices of io.stat.
Maybe sum_of(std::string_view text, std::string_view name) {
  Maybe sum;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (const Maybe value = find_number(text.substr(0, end), name)) sum = sum.value_or(0) + *value;
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return sum;
}

Maybe stalled_ns(const std::string& path) {
  const auto text = read_file(path);
  if (!text.ok()) return std::nullopt;
  const auto pressure = parse_pressure(text.value());
  return pressure.ok() ? Maybe(pressure.value().some_ns) : std::nullopt;
}

void read_unified(const std::string& folder, CgroupFigures& figures) {
  if (const auto cpu = read_file(folder + "/cpu.stat"); cpu.ok()) {
    figures.usage_ns = times(find_number(cpu.value(), "usage_usec"), kNsPerUs);
    figures.user_ns = times(find_number(cpu.value(), "user_usec"), kNsPerUs);
    figures.system_ns = times(find_number(cpu.value(), "system_usec"), kNsPerUs);
    figures.throttled_ns = times(find_number(cpu.value(), "throttled_usec"), kNsPerUs);
  }
  figures.memory_bytes = read_number(folder + "/memory.current");
  figures.peak_memory_bytes = read_number(folder + "/memory.peak");
  figures.pids = read_number(folder + "/pids.current");
  if (const auto events = read_file(folder + "/memory.events"); events.ok()) {
    figures.oom_kills = find_number(events.value(), "oom_kill");
  }
  if (const auto io = read_file(folder + "/io.stat"); io.ok()) {
    figures.read_bytes = sum_of(io.value(), "rbytes");
    figures.written_bytes = sum_of(io.value(), "wbytes");
  }
  figures.cpu_pressure_ns = stalled_ns(folder + "/cpu.pressure");
  figures.io_pressure_ns = stalled_ns(folder + "/io.pressure");
  figures.memory_pressure_ns = stalled_ns(folder + "/memory.pressure");
}

}  // namespace

CgroupFigures read_cgroup(const Cgroup& cgroup) {
  CgroupFigures figures;
  if (!cgroup.unified().empty()) read_unified(cgroup.unified(), figures);
  if (!cgroup.memory().empty() && !figures.memory_bytes) {
    figures.memory_bytes = read_number(cgroup.memory() + "/memory.usage_in_bytes");
    figures.peak_memory_bytes = read_number(cgroup.memory() + "/memory.max_usage_in_bytes");
    if (const auto control = read_file(cgroup.memory() + "/memory.oom_control"); control.ok()) {
      figures.oom_kills = find_number(control.value(), "oom_kill");
    }
  }
  if (!cgroup.cpuacct().empty() && !figures.usage_ns) {
    figures.usage_ns = read_number(cgroup.cpuacct() + "/cpuacct.usage");
    figures.user_ns = read_number(cgroup.cpuacct() + "/cpuacct.usage_user");
    figures.system_ns = read_number(cgroup.cpuacct() + "/cpuacct.usage_sys");
  }
  return figures;
}

}  // namespace fathom
