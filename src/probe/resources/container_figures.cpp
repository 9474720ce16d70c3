// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/container_figures.h"

#include <algorithm>
#include <filesystem>

#include "base/proc.h"
#include "base/proc_system.h"
#include "base/text.h"
#include "probe/resources/host_reader.h"

namespace fathom {
namespace {

constexpr int64_t kWholeEvery = 10;  // looks, also at those that sleep: packets come all the same
constexpr int64_t kLinesOfLoopback = 3;  // of net/dev: two of headings, and lo

std::string network_of(const std::string& folder) {
  std::error_code error;
  return std::filesystem::read_symlink(folder + "/ns/net", error);
}

}  // namespace

void ContainerNetwork::watch(int64_t pid) {
  const std::string folder = proc_folder(pid);
  std::string network = network_of(folder);
  if (network.empty() || network == network_of("/proc/self")) return;
  const auto same = [&](const Known& known) { return known.network == network; };
  if (std::any_of(networks_.begin(), networks_.end(), same)) return;
  networks_.push_back({RereadFile(folder + "/net/dev"), std::move(network)});
}

// One that is alone sends nothing, and may be connected.
void ContainerNetwork::read() {
  Maybe received, sent;
  const bool whole = reads_++ % kWholeEvery == 0;
  for (Known& known : networks_) {
    int64_t came = 0, went = 0;
    if (!known.alone || whole) {
      const std::string_view text = known.devices.read_all();
      if (text.empty()) continue;
      const NetSums net = sum_net(text);
      known.alone = std::count(text.begin(), text.end(), '\n') <= kLinesOfLoopback;
      came = net.outside.received_bytes;
      went = net.outside.sent_bytes;
    }
    received = received.value_or(0) + came;
    sent = sent.value_or(0) + went;
  }
  received_ = received;
  sent_ = sent;
}

void ContainerNetwork::write(GaugeWriter& gauges) const {
  gauges.put("net_received_total", "bytes", received_);
  gauges.put("net_sent_total", "bytes", sent_);
}

ContainerFigures::ContainerFigures(const TargetPart& part)
    : scope_("container " + part.name), limits_(part.limits), pid_(part.pid) {
  if (part.cgroup != nullptr) reader_.emplace(*part.cgroup);
  network_.watch(part.pid);
}

void ContainerFigures::begin() {
  if (reader_) reader_->begin();
}

void ContainerFigures::write(RecordStream& out, Stalls stalls, bool last) {
  if (!reader_) return;
  stalls_.cpu |= stalls.cpu;
  stalls_.io |= stalls.io;
  stalls_.memory |= stalls.memory;
  const bool whole = last || looks_++ % kWholeEvery == 0;
  if (!reader_->has_run() && !whole) {
    asleep_ns_ = reader_->cpu_time_ns();
    return;
  }
  const CgroupFigures now = reader_->read(std::exchange(stalls_, Stalls{false, false, false}));
  if (!now.user_ns) return;  // it is gone
  if (asleep_ns_ > 0) put(out, asleep_ns_);
  asleep_ns_ = 0;
  figures_ = now;
  network_.read();
  put(out, figures_.time_ns);
}

void ContainerFigures::put_io(RecordStream& out, int64_t time_ns) const {
  GaugeWriter gauges(out, scope_, time_ns);
  gauges.put("process_disk_read_total", "bytes", disk_read_);
  gauges.put("process_disk_written_total", "bytes", disk_written_);
}

void ContainerFigures::write_io(RecordStream& out, int64_t now_ns, const TreeFigures& io,
                                bool last) {
  const bool same = io.disk_read_bytes == disk_read_ && io.disk_written_bytes == disk_written_;
  if (same && io_ns_ != 0 && !last) {
    io_ns_ = -now_ns;
    return;
  }
  if (io_ns_ < 0) put_io(out, -io_ns_);
  if (io.disk_read_bytes) disk_read_ = std::max(disk_read_, io.disk_read_bytes);
  if (io.disk_written_bytes) disk_written_ = std::max(disk_written_, io.disk_written_bytes);
  io_ns_ = now_ns;
  put_io(out, now_ns);
}

void ContainerFigures::note_end(int64_t pid) {
  if (reader_ && pid == pid_) reader_->note_end();
}

void ContainerFigures::put(RecordStream& out, int64_t now_ns) const {
  GaugeWriter gauges(out, scope_, now_ns);
  write_figures(gauges, figures_);
  network_.write(gauges);
  for (const std::string_view limit : split_words(limits_, ',')) {
    const size_t equals = std::min(limit.find('='), limit.size() - 1);
    const auto value = parse_real(limit.substr(equals + 1));
    if (!value.ok()) continue;
    if (limit.starts_with("cpus=")) gauges.put("limit_cpus", "cores", value.value());
    if (limit.starts_with("memory=")) gauges.put("limit_memory", "bytes", value.value());
  }
}

void write_often(GaugeWriter& gauges, const CgroupFigures& figures) {
  gauges.put("cpu_total", "ns", figures.usage_ns);
  gauges.put("memory", "bytes", figures.memory_bytes);
  gauges.put("memory_working_set", "bytes", figures.working_set_bytes);
  gauges.put("memory_anonymous", "bytes", figures.anonymous_bytes);
  gauges.put("memory_shared", "bytes", figures.shared_bytes);
  gauges.put("memory_cache", "bytes", figures.cache_bytes);
  gauges.put("memory_swap", "bytes", figures.swap_bytes);
  gauges.put("memory_peak", "bytes", figures.peak_memory_bytes);
  gauges.put("memory_interval_peak", "bytes", figures.interval_peak_bytes);
  gauges.put("memory_lifetime_peak", "bytes", figures.lifetime_peak_bytes);
  gauges.put("memory_limit_hits_total", "count", figures.limit_hits);
  gauges.put("memory_at_limit", "", figures.at_limit);
}

void write_figures(GaugeWriter& gauges, const CgroupFigures& figures) {
  write_often(gauges, figures);
  gauges.put("cpu_user_total", "ns", figures.user_ns);
  gauges.put("cpu_system_total", "ns", figures.system_ns);
  gauges.put("cpu_throttled_total", "ns", figures.throttled_ns);
  gauges.put("cpu_periods_total", "count", figures.periods);
  gauges.put("cpu_throttled_periods_total", "count", figures.throttled_periods);
  gauges.put("oom_kills_total", "count", figures.oom_kills);
  gauges.put("disk_read_total", "bytes", figures.read_bytes);
  gauges.put("disk_written_total", "bytes", figures.written_bytes);
  gauges.put("pids", "count", figures.pids);
  gauges.put("pressure_cpu_some_total", "ns", figures.cpu_pressure_ns);
  gauges.put("pressure_io_some_total", "ns", figures.io_pressure_ns);
  gauges.put("pressure_memory_some_total", "ns", figures.memory_pressure_ns);
}

}  // namespace fathom
