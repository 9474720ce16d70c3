// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/core_reader.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "probe/resources/gauge_writer.h"

namespace fathom {
namespace {

constexpr size_t kMostCores = 256;
// Of a line "cpuN user nice system idle iowait irq softirq …": those that are work.
constexpr size_t kIdle = 3, kWaiting = 4, kSoftirq = 6;

std::vector<int64_t> numbers_of(std::string_view text) {
  std::string copy(text);
  for (char& byte : copy)
    if (byte == '\n') byte = ' ';
  return parse_numbers(copy);
}

}  // namespace

std::vector<int64_t> parse_core_times(std::string_view stat, int64_t ticks_per_s) {
  std::vector<int64_t> cores;
  while (!stat.empty() && cores.size() < kMostCores) {
    const std::string_view line = stat.substr(0, stat.find('\n'));
    stat.remove_prefix(std::min(line.size() + 1, stat.size()));
    if (!line.starts_with("cpu") || line.size() < 5 || line[3] == ' ') continue;
    const auto times = numbers_of(line.substr(std::min(line.find(' '), line.size())));
    int64_t busy = 0;
    for (size_t i = 0; i < times.size() && i <= kSoftirq; ++i)
      if (i != kIdle && i != kWaiting) busy += times[i];
    cores.push_back(busy * (kNsPerSecond / ticks_per_s));
  }
  return cores;
}

CoreReader::CoreReader(const Cgroup* cgroup) {
  if (cgroup != nullptr && !cgroup->cpuacct().empty())
    percpu_ = RereadFile(cgroup->cpuacct() + "/cpuacct.usage_percpu");
  if (!percpu_.valid()) stat_ = RereadFile("/proc/stat");
}

void CoreReader::write(RecordStream& out, int64_t now_ns) const {
  const bool own = percpu_.valid();
  std::vector<int64_t> cores = own ? numbers_of(percpu_.read_all())
                                   : parse_core_times(stat_.read_all(), sysconf(_SC_CLK_TCK));
  // A kernel tells of cores that could be, too; those never run anything.
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  if (own && online > 0 && cores.size() > static_cast<size_t>(online))
    cores.resize(static_cast<size_t>(online));
  GaugeWriter gauges(out, own ? "cgroup" : "host", now_ns);
  for (size_t core = 0; core < cores.size() && core < kMostCores; ++core)
    gauges.put(fmt::format("cpu{}_total", core), "ns", cores[core]);
}

}  // namespace fathom
