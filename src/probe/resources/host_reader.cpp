// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/host_reader.h"

#include <array>
#include <string>

#include "base/proc_system.h"

namespace fathom {

void write_host_gauges(GaugeWriter& gauges) {
  if (const auto stat = read_system_stat(); stat.ok()) {
    const SystemStat& cpu = stat.value();
    gauges.put("cpu_user_total", "ns", cpu.user_ns + cpu.nice_ns);
    gauges.put("cpu_system_total", "ns", cpu.system_ns + cpu.irq_ns + cpu.softirq_ns);
    gauges.put("cpu_idle_total", "ns", cpu.idle_ns);
    gauges.put("cpu_iowait_total", "ns", cpu.iowait_ns);
    gauges.put("cpu_steal_total", "ns", cpu.steal_ns);
    gauges.put("running", "count", cpu.running);
    gauges.put("switches_total", "count", cpu.switches);
  }
  if (const auto memory = read_meminfo(); memory.ok()) {
    gauges.put("memory_available", "bytes", memory.value().available_bytes);
    gauges.put("memory_cached", "bytes", memory.value().cached_bytes);
    gauges.put("memory_dirty", "bytes", memory.value().dirty_bytes);
    gauges.put("swap_free", "bytes", memory.value().swap_free_bytes);
  }
  if (const auto disk = read_disk_sum(); disk.ok()) {
    gauges.put("disk_read_total", "bytes", disk.value().read_bytes);
    gauges.put("disk_written_total", "bytes", disk.value().written_bytes);
    gauges.put("disk_busy_total", "ns", disk.value().busy_ns);
  }
  if (const auto net = read_net_sums(); net.ok()) {
    gauges.put("net_received_total", "bytes", net.value().outside.received_bytes);
    gauges.put("net_sent_total", "bytes", net.value().outside.sent_bytes);
    gauges.put("loopback_total", "bytes", net.value().loopback.sent_bytes);
  }
  for (const std::string resource : {"cpu", "io", "memory"}) {
    const auto pressure = read_pressure(resource);
    if (!pressure.ok()) continue;
    gauges.put("pressure_" + resource + "_some_total", "ns", pressure.value().some_ns);
    gauges.put("pressure_" + resource + "_full_total", "ns", pressure.value().full_ns);
  }
}

}  // namespace fathom
