// SPDX-License-Identifier: Apache-2.0
#include "base/proc_system.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/clock.h"
#include "base/fd.h"
#include "base/proc.h"
#include "base/scan.h"

namespace fathom {
namespace {

constexpr int64_t kSectorBytes = 512;  // in diskstats always, whatever the device
constexpr int64_t kNsPerUs = 1000;

std::string path_of(std::string_view root, std::string_view file) {
  return std::string(root) + "/" + std::string(file);
}

// Fills as many as there are numbers; tells how many.
template <size_t kCount>
size_t take_numbers(std::string_view& text, const std::array<int64_t*, kCount>& values) {
  size_t taken = 0;
  for (int64_t* value : values) {
    const auto number = take_number(text);
    if (!number) break;
    if (value != nullptr) *value = *number;
    ++taken;
  }
  return taken;
}

}  // namespace

Result<SystemStat> parse_system_stat(std::string_view text) {
  SystemStat stat;
  auto line = take_line(text);
  if (!line || take_word(*line) != "cpu") return unreadable("/proc/stat");
  const std::array<int64_t*, 8> times = {&stat.user_ns,    &stat.nice_ns,   &stat.system_ns,
                                         &stat.idle_ns,    &stat.iowait_ns, &stat.irq_ns,
                                         &stat.softirq_ns, &stat.steal_ns};
  if (take_numbers(*line, times) < 4) return unreadable("/proc/stat");
  for (int64_t* time : times) *time = ticks_to_ns(*time);
  while ((line = take_line(text))) {
    const std::string_view key = take_word(*line);
    if (key.starts_with("cpu")) ++stat.cpus;
    if (key == "ctxt") stat.switches = take_number(*line);
    if (key == "btime") stat.boot_time_s = take_number(*line);
    if (key == "processes") stat.forks = take_number(*line);
    if (key == "procs_running") stat.running = take_number(*line);
    if (key == "procs_blocked") stat.blocked = take_number(*line);
  }
  return stat;
}

Result<SystemStat> read_system_stat(std::string_view root) {
  TRY_ASSIGN(const std::string text, read_file(path_of(root, "stat")));
  return parse_system_stat(text);
}

Result<SystemMemory> parse_meminfo(std::string_view text) {
  SystemMemory memory;
  std::optional<int64_t> total, free;
  struct Field {
    std::string_view key;
    std::optional<int64_t>* value;
  };
  const std::array<Field, 10> fields = {{{"MemTotal:", &total},
                                         {"MemFree:", &free},
                                         {"MemAvailable:", &memory.available_bytes},
                                         {"Buffers:", &memory.buffer_bytes},
                                         {"Cached:", &memory.cached_bytes},
                                         {"SwapTotal:", &memory.swap_total_bytes},
                                         {"SwapFree:", &memory.swap_free_bytes},
                                         {"Dirty:", &memory.dirty_bytes},
                                         {"Writeback:", &memory.writeback_bytes},
                                         {"Shmem:", &memory.shared_bytes}}};
  while (auto line = take_line(text)) {
    const std::string_view key = take_word(*line);
    for (const Field& field : fields) {
      if (field.key != key) continue;
      if (const auto kib = take_number(*line)) *field.value = *kib * kKib;
    }
  }
  if (!total || !free) return unreadable("/proc/meminfo");
  memory.total_bytes = *total;
  memory.free_bytes = *free;
  return memory;
}

Result<SystemMemory> read_meminfo(std::string_view root) {
  TRY_ASSIGN(const std::string text, read_file(path_of(root, "meminfo")));
  return parse_meminfo(text);
}

namespace {

struct PressureLine {
  double avg10_percent = 0;
  int64_t total_ns = 0;
};

// "avg10=0.16 avg60=2.36 avg300=6.33 total=52351209"
std::optional<PressureLine> parse_pressure_line(std::string_view line) {
  PressureLine parsed;
  bool has_total = false;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    constexpr std::string_view kAvg10 = "avg10=";
    constexpr std::string_view kTotal = "total=";
    if (word.starts_with(kAvg10)) {
      word.remove_prefix(kAvg10.size());
      std::from_chars(word.data(), word.data() + word.size(), parsed.avg10_percent);
    } else if (word.starts_with(kTotal)) {
      word.remove_prefix(kTotal.size());
      const auto total_us = to_number(word);
      if (!total_us) return std::nullopt;
      parsed.total_ns = *total_us * kNsPerUs;
      has_total = true;
    }
  }
  return has_total ? std::optional(parsed) : std::nullopt;
}

}  // namespace

Result<Pressure> parse_pressure(std::string_view text) {
  Pressure pressure;
  bool has_some = false;
  while (auto line = take_line(text)) {
    const std::string_view kind = take_word(*line);
    const auto parsed = parse_pressure_line(*line);
    if (!parsed) continue;
    if (kind == "some") {
      pressure.some_avg10_percent = parsed->avg10_percent;
      pressure.some_ns = parsed->total_ns;
      has_some = true;
    } else if (kind == "full") {
      pressure.full_avg10_percent = parsed->avg10_percent;
      pressure.full_ns = parsed->total_ns;
    }
  }
  if (!has_some) return unreadable("pressure");
  return pressure;
}

Result<Pressure> read_pressure(std::string_view resource, std::string_view root) {
  auto text = read_file(path_of(root, "pressure/") + std::string(resource));
  if (text.ok()) return parse_pressure(text.value());
  Error error = std::move(text).error();
  if (error.code == Code::kPermission) return error;
  error.code = Code::kUnsupported;  // no such file, or EOPNOTSUPP where it is switched off
  return std::move(error).with_hint("boot with psi=1 on a kernel built with CONFIG_PSI");
}

std::vector<DiskStat> parse_diskstats(std::string_view text) {
  std::vector<DiskStat> disks;
  while (auto line = take_line(text)) {
    take_word(*line);
    take_word(*line);
    DiskStat disk;
    disk.name = take_word(*line);
    const std::array<int64_t*, 10> values = {
        &disk.reads,         nullptr,        &disk.read_bytes, &disk.read_ns, &disk.writes, nullptr,
        &disk.written_bytes, &disk.write_ns, &disk.in_flight,  &disk.busy_ns};
    if (take_numbers(*line, values) != values.size()) continue;
    disk.read_bytes *= kSectorBytes;
    disk.written_bytes *= kSectorBytes;
    for (int64_t* ms : {&disk.read_ns, &disk.write_ns, &disk.busy_ns}) *ms *= kNsPerMs;
    disks.push_back(std::move(disk));
  }
  return disks;
}

bool disk_holds_data(const std::string& name, std::string_view sys) {
  return access((path_of(sys, "block/") + name + "/device").c_str(), F_OK) == 0;
}

DiskStat sum_disks(std::string_view text,
                   const std::function<bool(const std::string& name)>& holds_data) {
  DiskStat sum;
  for (const DiskStat& disk : parse_diskstats(text)) {
    if (!holds_data(disk.name)) continue;
    sum.reads += disk.reads;
    sum.read_bytes += disk.read_bytes;
    sum.read_ns += disk.read_ns;
    sum.writes += disk.writes;
    sum.written_bytes += disk.written_bytes;
    sum.write_ns += disk.write_ns;
    sum.in_flight += disk.in_flight;
    sum.busy_ns += disk.busy_ns;
  }
  return sum;
}

std::vector<NetStat> parse_net_dev(std::string_view text) {
  std::vector<NetStat> interfaces;
  while (auto line = take_line(text)) {
    const size_t colon = line->find(':');
    if (colon == std::string_view::npos) continue;  // the two lines of headings
    NetStat net;
    std::string_view name = line->substr(0, colon);
    net.name = take_word(name);
    line->remove_prefix(colon + 1);
    const std::array<int64_t*, 12> values = {&net.received_bytes,
                                             &net.received_packets,
                                             &net.received_errors,
                                             &net.received_drops,
                                             nullptr,
                                             nullptr,
                                             nullptr,
                                             nullptr,
                                             &net.sent_bytes,
                                             &net.sent_packets,
                                             &net.sent_errors,
                                             &net.sent_drops};
    if (take_numbers(*line, values) == values.size()) interfaces.push_back(std::move(net));
  }
  return interfaces;
}

NetSums sum_net(std::string_view text) {
  NetSums sums;
  for (const NetStat& net : parse_net_dev(text)) {
    NetStat& sum = net.name == "lo" ? sums.loopback : sums.outside;
    sum.received_bytes += net.received_bytes;
    sum.received_packets += net.received_packets;
    sum.received_errors += net.received_errors;
    sum.received_drops += net.received_drops;
    sum.sent_bytes += net.sent_bytes;
    sum.sent_packets += net.sent_packets;
    sum.sent_errors += net.sent_errors;
    sum.sent_drops += net.sent_drops;
  }
  return sums;
}

Result<std::vector<int>> parse_cpu_list(std::string_view text) {
  constexpr int64_t kMostCpus = 1 << 16;
  std::vector<int> cpus;
  while (!text.empty() && text.front() != '\n') {
    const auto first = take_number(text);
    auto last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number(text);
    }
    if (!first || !last || *first < 0 || *last < *first || *last > kMostCpus)
      return unreadable("a list of CPUs");
    for (int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return cpus;
}

Result<std::vector<int>> online_cpus(std::string_view sys) {
  TRY_ASSIGN(const std::string text, read_file(path_of(sys, "devices/system/cpu/online")));
  return parse_cpu_list(text);
}

}  // namespace fathom
