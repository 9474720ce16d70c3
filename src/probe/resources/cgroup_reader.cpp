// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/cgroup_reader.h"

#include <charconv>
#include <string>
#include <string_view>

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

Maybe stalled_ns(const RereadFile& file) {
  const auto pressure = parse_pressure(file.read());
  return pressure.ok() ? Maybe(pressure.value().some_ns) : std::nullopt;
}

// The file in the unified tree if it is there, else the one in a version-1 tree.
RereadFile either(const std::string& unified, const char* name, const std::string& v1,
                  const char* name_v1) {
  if (!unified.empty()) {
    if (RereadFile file(unified + name); file.valid()) return file;
  }
  return v1.empty() ? RereadFile() : RereadFile(v1 + name_v1);
}

RereadFile in(const std::string& folder, const char* name) {
  return folder.empty() ? RereadFile() : RereadFile(folder + name);
}

}  // namespace

CgroupReader::CgroupReader(const Cgroup& cgroup)
    : cpu_stat_(in(cgroup.unified(), "/cpu.stat")),
      memory_(
          either(cgroup.unified(), "/memory.current", cgroup.memory(), "/memory.usage_in_bytes")),
      peak_(
          either(cgroup.unified(), "/memory.peak", cgroup.memory(), "/memory.max_usage_in_bytes")),
      events_(either(cgroup.unified(), "/memory.events", cgroup.memory(), "/memory.oom_control")),
      io_stat_(in(cgroup.unified(), "/io.stat")),
      pids_(in(cgroup.unified(), "/pids.current")),
      cpu_pressure_(in(cgroup.unified(), "/cpu.pressure")),
      io_pressure_(in(cgroup.unified(), "/io.pressure")),
      memory_pressure_(in(cgroup.unified(), "/memory.pressure")) {
  if (cpu_stat_.valid()) return;
  usage_v1_ = in(cgroup.cpuacct(), "/cpuacct.usage");
  user_v1_ = in(cgroup.cpuacct(), "/cpuacct.usage_user");
  system_v1_ = in(cgroup.cpuacct(), "/cpuacct.usage_sys");
}

CgroupFigures CgroupReader::read() const {
  CgroupFigures figures;
  const std::string_view cpu = cpu_stat_.read();
  figures.usage_ns = times(find_number(cpu, "usage_usec"), kNsPerUs);
  figures.user_ns = times(find_number(cpu, "user_usec"), kNsPerUs);
  figures.system_ns = times(find_number(cpu, "system_usec"), kNsPerUs);
  figures.throttled_ns = times(find_number(cpu, "throttled_usec"), kNsPerUs);
  if (!cpu_stat_.valid()) {
    figures.usage_ns = number_of(usage_v1_.read());
    figures.user_ns = number_of(user_v1_.read());
    figures.system_ns = number_of(system_v1_.read());
  }
  figures.memory_bytes = number_of(memory_.read());
  figures.peak_memory_bytes = number_of(peak_.read());
  figures.oom_kills = find_number(events_.read(), "oom_kill");
  figures.pids = number_of(pids_.read());
  const std::string_view io = io_stat_.read();
  figures.read_bytes = sum_of(io, "rbytes");
  figures.written_bytes = sum_of(io, "wbytes");
  figures.cpu_pressure_ns = stalled_ns(cpu_pressure_);
  figures.io_pressure_ns = stalled_ns(io_pressure_);
  figures.memory_pressure_ns = stalled_ns(memory_pressure_);
  return figures;
}

}  // namespace fathom
