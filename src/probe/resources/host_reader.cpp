// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/host_reader.h"

#include "base/proc_system.h"

namespace fathom {

HostReader::HostReader()
    : stat_("/proc/stat"),
      meminfo_("/proc/meminfo"),
      diskstats_("/proc/diskstats"),
      net_("/proc/net/dev") {
  static constexpr std::array kResources = {"cpu", "io", "memory"};
  for (size_t i = 0; i < pressure_.size(); ++i) {
    const std::string resource = kResources[i];
    pressure_[i] = {RereadFile("/proc/pressure/" + resource),
                    "pressure_" + resource + "_some_total", "pressure_" + resource + "_full_total"};
  }
}

void HostReader::write(GaugeWriter& gauges) {
  write_cpu(gauges);
  write_memory(gauges);
  write_disk(gauges);
  write_net(gauges);
  for (const PressureFile& of : pressure_) {
    const auto pressure = parse_pressure(of.file.read());
    if (!pressure.ok()) continue;
    gauges.put(of.some, "ns", pressure.value().some_ns);
    gauges.put(of.full, "ns", pressure.value().full_ns);
  }
}

void HostReader::write_cpu(GaugeWriter& gauges) const {
  const auto stat = parse_system_stat(stat_.read_all());
  if (!stat.ok()) return;
  const SystemStat& cpu = stat.value();
  gauges.put("cpu_user_total", "ns", cpu.user_ns + cpu.nice_ns);
  gauges.put("cpu_system_total", "ns", cpu.system_ns + cpu.irq_ns + cpu.softirq_ns);
  gauges.put("cpu_idle_total", "ns", cpu.idle_ns);
  gauges.put("cpu_iowait_total", "ns", cpu.iowait_ns);
  gauges.put("cpu_steal_total", "ns", cpu.steal_ns);
  gauges.put("running", "count", cpu.running);
  gauges.put("switches_total", "count", cpu.switches);
}

void HostReader::write_memory(GaugeWriter& gauges) const {
  const auto memory = parse_meminfo(meminfo_.read_all());
  if (!memory.ok()) return;
  gauges.put("memory_available", "bytes", memory.value().available_bytes);
  gauges.put("memory_cached", "bytes", memory.value().cached_bytes);
  gauges.put("memory_dirty", "bytes", memory.value().dirty_bytes);
  gauges.put("swap_free", "bytes", memory.value().swap_free_bytes);
}

void HostReader::write_disk(GaugeWriter& gauges) {
  const std::string_view text = diskstats_.read_all();
  if (text.empty()) return;
  const DiskStat disk = sum_disks(text, [this](const std::string& name) {
    const auto [entry, added] = holds_data_.try_emplace(name);
    if (added) entry->second = disk_holds_data(name);
    return entry->second;
  });
  gauges.put("disk_read_total", "bytes", disk.read_bytes);
  gauges.put("disk_written_total", "bytes", disk.written_bytes);
  gauges.put("disk_busy_total", "ns", disk.busy_ns);
}

void HostReader::write_net(GaugeWriter& gauges) const {
  const std::string_view text = net_.read_all();
  if (text.empty()) return;
  const NetSums net = sum_net(text);
  gauges.put("net_received_total", "bytes", net.outside.received_bytes);
  gauges.put("net_sent_total", "bytes", net.outside.sent_bytes);
  gauges.put("loopback_total", "bytes", net.loopback.sent_bytes);
}

}  // namespace fathom
