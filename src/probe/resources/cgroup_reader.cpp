// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/cgroup_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "base/proc_system.h"

namespace fathom {
namespace {

constexpr int64_t kNsPerUs = 1000;
constexpr int64_t kUnlimitedEvery = 10;  // looks

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

void add(Maybe& sum, const Maybe& more) {
  if (more) sum = sum.value_or(0) + *more;
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

StallReader::StallReader()
    : cpu_("/proc/pressure/cpu"), io_("/proc/pressure/io"), memory_("/proc/pressure/memory") {}

Stalls StallReader::read() {
  const auto rose = [](const RereadFile& file, Maybe& before) {
    const Maybe now = stalled_ns(file);
    const bool same = now && now == before;
    before = now;
    return !same;
  };
  return {rose(cpu_, cpu_ns_), rose(io_, io_ns_), rose(memory_, memory_ns_)};
}

CgroupReader::CgroupReader(const Cgroup& cgroup)
    : cpu_stat_(in(cgroup.unified(), "/cpu.stat")),
      memory_(
          either(cgroup.unified(), "/memory.current", cgroup.memory(), "/memory.usage_in_bytes")),
      peak_(
          either(cgroup.unified(), "/memory.peak", cgroup.memory(), "/memory.max_usage_in_bytes")),
      events_(either(cgroup.unified(), "/memory.events", cgroup.memory(), "/memory.oom_control")),
      io_stat_(in(cgroup.unified(), "/io.stat")),
      pids_(either(cgroup.unified(), "/pids.current", cgroup.pids(), "/pids.current")),
      cpu_pressure_(in(cgroup.unified(), "/cpu.pressure")),
      io_pressure_(in(cgroup.unified(), "/io.pressure")),
      memory_pressure_(in(cgroup.unified(), "/memory.pressure")),
      memory_stat_(either(cgroup.unified(), "/memory.stat", cgroup.memory(), "/memory.stat")),
      swap_(in(cgroup.unified(), "/memory.swap.current")),
      blkio_v1_(in(cgroup.blkio(), "/blkio.throttle.io_service_bytes_recursive")) {
  for (const Cgroup::Limited& limited : cgroup.limited())
    limited_.push_back(
        {in(limited.cpu, "/cpu.stat"), in(limited.memory, "/memory.oom_control"), {}});
  if (!cgroup.path().empty()) {
    const bool unified = access((cgroup.unified() + "/memory.peak").c_str(), F_OK) == 0;
    peak_own_ = Fd(open((unified ? cgroup.unified() + "/memory.peak"
                                 : cgroup.memory() + "/memory.max_usage_in_bytes")
                            .c_str(),
                        O_RDWR | O_CLOEXEC));
  }
  if (cpu_stat_.valid()) return;
  usage_v1_ = in(cgroup.cpuacct(), "/cpuacct.usage");
  user_v1_ = in(cgroup.cpuacct(), "/cpuacct.usage_user");
  system_v1_ = in(cgroup.cpuacct(), "/cpuacct.usage_sys");
}

// Only the container's own cgroup knows these; what it said last stays when it is gone. One without
// a CPU limit counts no periods, and may be given one.
void CgroupReader::read_limited(CgroupFigures& figures) {
  for (Limited& limited : limited_) {
    const bool unlimited = limited.last.periods == 0;
    const std::string_view cpu =
        unlimited && limited.reads++ % kUnlimitedEvery != 0 ? "" : limited.cpu_stat.read();
    if (const Maybe periods = find_number(cpu, "nr_periods")) {
      limited.last.periods = periods;
      limited.last.throttled_periods = find_number(cpu, "nr_throttled");
      const Maybe us = find_number(cpu, "throttled_usec");
      limited.last.throttled_ns = us ? times(us, kNsPerUs) : find_number(cpu, "throttled_time");
    }
    if (const Maybe kills = find_number(limited.events.read(), "oom_kill"))
      limited.last.oom_kills = kills;
    add(figures.periods, limited.last.periods);
    add(figures.throttled_periods, limited.last.throttled_periods);
  }
  if (!limited_.empty()) figures.throttled_ns = std::nullopt;
  for (const Limited& limited : limited_) {
    add(figures.throttled_ns, limited.last.throttled_ns);
    add(figures.oom_kills, limited.last.oom_kills);
  }
  if (!figures.oom_kills) figures.oom_kills = find_number(events_.read(), "oom_kill");
}

// Version 1 restarts it for everybody, version 2 for this descriptor.
bool CgroupReader::restart_peak(bool forget) {
  const Maybe now = peak_now();
  if (!peak_own_.valid() || ::pwrite(peak_own_.get(), "0\n", 2, 0) != 2) return false;
  peak_before_ = forget ? Maybe() : std::max(peak_before_, now);
  return true;
}

Maybe CgroupReader::peak_now() const {
  if (!peak_own_.valid()) return number_of(peak_.read());
  char text[32];
  const ssize_t got = ::pread(peak_own_.get(), text, sizeof text, 0);
  return got > 0 ? number_of(std::string_view(text, static_cast<size_t>(got))) : std::nullopt;
}

bool CgroupReader::has_run() {
  asked_.emplace();
  read_cpu(*asked_);
  const bool same = asked_->usage_ns && asked_->usage_ns == ran_;
  ran_ = asked_->usage_ns;
  return !same;
}

void CgroupReader::read_cpu(CgroupFigures& figures) const {
  const std::string_view cpu = cpu_stat_.read();
  figures.usage_ns = times(find_number(cpu, "usage_usec"), kNsPerUs);
  figures.user_ns = times(find_number(cpu, "user_usec"), kNsPerUs);
  figures.system_ns = times(find_number(cpu, "system_usec"), kNsPerUs);
  figures.throttled_ns = times(find_number(cpu, "throttled_usec"), kNsPerUs);
  if (cpu_stat_.valid()) return;
  figures.usage_ns = number_of(usage_v1_.read());
  figures.user_ns = number_of(user_v1_.read());
  figures.system_ns = number_of(system_v1_.read());
}

void CgroupReader::read_memory(CgroupFigures& figures) const {
  figures.memory_bytes = number_of(memory_.read());
  figures.peak_memory_bytes = std::max(peak_before_, peak_now());
  const std::string_view memory = memory_stat_.read();
  Maybe droppable = find_number(memory, "total_inactive_file");
  if (!droppable) droppable = find_number(memory, "inactive_file");
  if (figures.memory_bytes && droppable)
    figures.working_set_bytes = std::max<int64_t>(0, *figures.memory_bytes - *droppable);
  figures.swap_bytes = swap_.valid() ? number_of(swap_.read()) : find_number(memory, "total_swap");
}

void CgroupReader::read_blocks(CgroupFigures& figures) const {
  const std::string_view io = io_stat_.read();
  figures.read_bytes = sum_of(io, "rbytes");
  figures.written_bytes = sum_of(io, "wbytes");
  if (!blkio_v1_.valid()) return;
  const std::string_view blocks = blkio_v1_.read_all();
  figures.read_bytes = sum_of(blocks, "Read").value_or(0);  // a device comes with its first use
  figures.written_bytes = sum_of(blocks, "Write").value_or(0);
}

CgroupFigures CgroupReader::read(const Stalls& stalls) {
  CgroupFigures figures;
  if (asked_)
    figures = *std::exchange(asked_, std::nullopt);
  else
    read_cpu(figures);
  read_memory(figures);
  figures.pids = number_of(pids_.read());
  read_blocks(figures);
  read_limited(figures);
  if (stalls.cpu || !cpu_pressure_ns_) cpu_pressure_ns_ = stalled_ns(cpu_pressure_);
  if (stalls.io || !io_pressure_ns_) io_pressure_ns_ = stalled_ns(io_pressure_);
  if (stalls.memory || !memory_pressure_ns_) memory_pressure_ns_ = stalled_ns(memory_pressure_);
  figures.cpu_pressure_ns = cpu_pressure_ns_;
  figures.io_pressure_ns = io_pressure_ns_;
  figures.memory_pressure_ns = memory_pressure_ns_;
  return figures;
}

}  // namespace fathom
