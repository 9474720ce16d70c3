// SPDX-License-Identifier: Apache-2.0
// What /proc says about the whole machine. As in proc.h: a pure function parses each file's text,
// another reads it below `root`; what a kernel does not give is absent. Sums run since boot. Any
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

struct SystemStat {
  int64_t user_ns = 0, nice_ns = 0, system_ns = 0, idle_ns = 0, iowait_ns = 0;
  int64_t irq_ns = 0, softirq_ns = 0, steal_ns = 0;  // guest time is within user and nice
  std::optional<int64_t> switches, forks, running, blocked, boot_time_s;
  int64_t cpus = 0;
};
Result<SystemStat> parse_system_stat(std::string_view text);
Result<SystemStat> read_system_stat(std::string_view root = "/proc");

struct SystemMemory {
  int64_t total_bytes = 0, free_bytes = 0;
  std::optional<int64_t> available_bytes, buffer_bytes, cached_bytes, shared_bytes, dirty_bytes;
  std::optional<int64_t> writeback_bytes, swap_total_bytes, swap_free_bytes;
};
Result<SystemMemory> parse_meminfo(std::string_view text);
Result<SystemMemory> read_meminfo(std::string_view root = "/proc");

// Pressure stall information: time in which some, or all, runnable tasks waited for the resource.
struct Pressure {
  double some_avg10_percent = 0;
  int64_t some_ns = 0;
  std::optional<double> full_avg10_percent;
  std::optional<int64_t> full_ns;
};
// Also the text of a cgroup's cpu.pressure, memory.pressure, io.pressure.
Result<Pressure> parse_pressure(std::string_view text);
// `resource` is cpu, memory or io. kUnsupported where the kernel does not count it.
Result<Pressure> read_pressure(std::string_view resource, std::string_view root = "/proc");

struct DiskStat {
  std::string name;
  int64_t reads = 0, read_bytes = 0, read_ns = 0;
  int64_t writes = 0, written_bytes = 0, write_ns = 0;
  int64_t in_flight = 0, busy_ns = 0;
};
std::vector<DiskStat> parse_diskstats(std::string_view text);
// Whether the device holds data itself: partitions, loop, RAM, device-mapper and RAID devices do
// not, and would count a byte twice.
bool disk_holds_data(const std::string& name, std::string_view sys = "/sys");
// The text of diskstats, those that hold data added up; the name stays empty.
DiskStat sum_disks(std::string_view text,
                   const std::function<bool(const std::string& name)>& holds_data);

struct NetStat {
  std::string name;
  int64_t received_bytes = 0, received_packets = 0, received_errors = 0, received_drops = 0;
  int64_t sent_bytes = 0, sent_packets = 0, sent_errors = 0, sent_drops = 0;
};
std::vector<NetStat> parse_net_dev(std::string_view text);
struct NetSums {
  NetStat outside;  // all interfaces but lo
  NetStat loopback;
};
// The text of net/dev.
NetSums sum_net(std::string_view text);

// "0-2,5" -> 0 1 2 5
Result<std::vector<int>> parse_cpu_list(std::string_view text);
Result<std::vector<int>> online_cpus(std::string_view sys = "/sys");

}  // namespace fathom
