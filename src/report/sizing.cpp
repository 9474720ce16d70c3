// SPDX-License-Identifier: Apache-2.0
#include "report/sizing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/text.h"
#include "report/label_lines.h"

namespace fathom {
namespace {

constexpr double kBusy = 0.95;
constexpr double kWindow = 0.9e9;        // ns that a rate is of
constexpr double kShortWindow = 0.15e9;  // the same of a short run
constexpr int64_t kShortRun = 3 * kNsPerSecond, kLongRun = 10 * kNsPerSecond;
constexpr double kMemoryRoom = 1.15, kMemoryLimitRoom = 1.3, kCpuLimitRoom = 1.2;
// Between the kernel's updates of CPU time: a timer interrupt at the slowest usual rate, 100 Hz.
constexpr double kCpuUpdateNs = 10e6;
constexpr double kMuchWaiting = 0.2;
constexpr double kMemoryStep = 16.0 * (1 << 20), kCpuStep = 0.05;

constexpr std::string_view kContainer = "container ";  // and its name: a scope

struct Series {
  std::vector<std::pair<int64_t, double>> points;  // by time, once sorted

  void sort() { std::sort(points.begin(), points.end()); }
  [[nodiscard]] std::optional<double> mean_rate() const {
    if (points.size() < 2 || points.back().first <= points.front().first) return std::nullopt;
    return (points.back().second - points.front().second) /
           static_cast<double>(points.back().first - points.front().first);
  }
  [[nodiscard]] double largest() const {
    double most = 0;
    for (const auto& [time, value] : points) most = std::max(most, value);
    return most;
  }
  [[nodiscard]] double increase() const {
    return points.empty() ? 0 : std::max(0.0, points.back().second - points.front().second);
  }
  // Per second, of a cumulative metric, and of how long an interval each is.
  struct Rate {
    double value, length_ns;
  };
  [[nodiscard]] std::vector<Rate> rates(double window_ns) const {
    std::vector<Rate> rates;
    for (size_t i = 1, from = 0; i < points.size(); ++i) {
      const auto length = static_cast<double>(points[i].first - points[from].first);
      if (length < window_ns) continue;
      rates.push_back({(points[i].second - points[from].second) * 1e9 / length, length});
      from = i;
    }
    return rates;
  }
  // Of a figure that adds up: the most that came within a second, wherever that began.
  [[nodiscard]] double busiest_second() const {
    const auto between = [this](size_t from, size_t to) {
      return static_cast<double>(points[to].first - points[from].first);
    };
    if (between(0, points.size() - 1) < kWindow)
      return points.back().second - points.front().second;
    double most = 0;
    for (size_t to = 1, from = 0; to < points.size(); ++to) {
      while (between(from + 1, to) >= kWindow) ++from;
      if (const double length = between(from, to); length >= kWindow)
        most = std::max(most, (points[to].second - points[from].second) * 1e9 / length);
    }
    return most;
  }
};

class AllSeries {
 public:
  void add(const Batch& batch) {
    for (const Gauge& gauge : batch.rows.of<Gauge>()) {
      const std::string_view scope = batch.dictionary.text(gauge.scope);
      if (scope == "host" || scope.starts_with("app")) continue;
      const std::string name =
          std::string(scope) + " " + std::string(batch.dictionary.text(gauge.name));
      all_[name].points.emplace_back(gauge.time_ns, gauge.value);
    }
  }
  void sort() {
    for (auto& [name, series] : all_) series.sort();
  }
  [[nodiscard]] const Series* find(const std::string& name) const {
    const auto found = all_.find(name);
    return found == all_.end() || found->second.points.empty() ? nullptr : &found->second;
  }
  // Two that add up, together.
  [[nodiscard]] Series sum(const std::string& scope, const std::string& first,
                           const std::string& second) const {
    Series sum;
    const Series* left = find(scope + " " + first);
    const Series* right = find(scope + " " + second);
    if (left == nullptr || right == nullptr) return sum;
    auto other = right->points.begin();
    for (const auto& [time, value] : left->points) {
      while (other != right->points.end() && other->first < time) ++other;
      if (other != right->points.end() && other->first == time)
        sum.points.emplace_back(time, value + other->second);
    }
    return sum;
  }
  // Those that have scopes of their own.
  [[nodiscard]] std::set<std::string> containers() const {
    std::set<std::string> names;
    for (const auto& [key, series] : all_)
      if (key.starts_with(kContainer) && key.ends_with(" cpu_user_total"))
        names.insert(key.substr(kContainer.size(), key.rfind(' ') - kContainer.size()));
    return names;
  }
  template <class Act>
  void of_gpus(const std::string& name, Act&& act) const {
    for (const auto& [key, series] : all_) {
      if (key.starts_with("gpu ") && key.ends_with(" " + name) &&
          key.find(" of ") == std::string::npos)
        act(series);
    }
  }

 private:
  std::map<std::string, Series> all_;
};

double window_of(const Summary& summary) {
  return summary.duration_ns < kShortRun ? kShortWindow : kWindow;
}

std::optional<double> most_a_second(const Series* series) {
  if (series == nullptr || series->points.size() < 2) return std::nullopt;
  return series->busiest_second();
}

// Either source can lack bytes: version 1 of cgroups charges no writeback, version 2 only what was
// written back during the recording, and processes are not accounted for what others started.
std::optional<double> disk_rate(const Series* cgroup, const Series* processes, DiskSource& source) {
  const auto total = [](const Series* series) {
    return series == nullptr || series->points.size() < 2 ? -1 : series->increase();
  };
  const double charged = total(cgroup), accounted = total(processes);
  if (charged < 0 && accounted < 0) return std::nullopt;
  source = accounted > charged ? DiskSource::kProcesses : DiskSource::kCgroup;
  return most_a_second(accounted > charged ? processes : cgroup);
}

// What could run at once: no more than there are cores, threads and CPU limit.
double most_cores(const Summary& summary, const SizingFigures& figures, bool whole_run) {
  const Run& run = summary.run();
  double most = std::numeric_limits<double>::infinity();
  if (run.cores.value_or(0) > 0) most = static_cast<double>(*run.cores);
  if (whole_run && run.threads.value_or(0) > 0)
    most = std::min(most, static_cast<double>(*run.threads));
  return std::min(most, figures.limit_cores.value_or(most));
}

void add_rates(const Series& cpu, const Summary& summary, bool whole_run, SizingFigures& figures) {
  const double most = most_cores(summary, figures, whole_run);
  std::vector<double> cores;
  double length_ns = 0;
  for (const Series::Rate& rate : cpu.rates(window_of(summary))) {
    cores.push_back(std::min(most, whole_cores(rate.value * 1e-9, rate.length_ns)));
    length_ns += rate.length_ns;
  }
  if (figures.mean_cores) figures.mean_cores = std::min(most, *figures.mean_cores);
  if (cores.empty()) {
    figures.p95_cores = figures.peak_cores = figures.mean_cores;
    return;
  }
  figures.p95_cores = quantile(cores, kBusy);
  figures.peak_cores = *std::max_element(cores.begin(), cores.end());
  figures.cpu_intervals = static_cast<int64_t>(cores.size());
  figures.cpu_interval_ns = static_cast<int64_t>(length_ns / static_cast<double>(cores.size()));
}

// One counter, where there is one: two are not read at the same time.
Series cpu_of(const AllSeries& all, const std::string& scope) {
  const Series* total = all.find(scope + " cpu_total");
  return total != nullptr ? *total : all.sum(scope, "cpu_user_total", "cpu_system_total");
}

void add_cpu(const AllSeries& all, const Summary& summary, SizingFigures& figures) {
  const double window_ns = window_of(summary);
  Series used = cpu_of(all, "cgroup");
  Series tree = cpu_of(all, "tree");  // read more often
  if (2 * used.rates(window_ns).size() < tree.rates(window_ns).size()) used = std::move(tree);
  if (summary.cpu_ns && summary.cpu_elapsed_ns > 0)
    figures.mean_cores = whole_cores(
        static_cast<double>(*summary.cpu_ns) / static_cast<double>(summary.cpu_elapsed_ns),
        static_cast<double>(summary.duration_ns));
  if (summary.run().wait_ns && summary.cpu_ns && *summary.run().wait_ns + *summary.cpu_ns > 0)
    figures.waited_share = ratio(*summary.run().wait_ns, *summary.run().wait_ns + *summary.cpu_ns);
  add_rates(used, summary, true, figures);
}

// The metrics of a scope, by the time of their reading.
std::vector<MemoryReading> readings_of(const AllSeries& all, const std::string& scope) {
  const Series* usage = all.find(scope + " memory");
  const Series* set = all.find(scope + " memory_working_set");
  if (usage == nullptr || set == nullptr) return {};
  std::vector<MemoryReading> readings;
  for (const auto& [time_ns, value] : usage->points) {
    MemoryReading reading;
    reading.time_ns = time_ns;
    reading.usage = reading.working_set = value;
    readings.push_back(reading);
  }
  const auto fill = [&](const char* name, auto&& put) {
    const Series* series = all.find(scope + " " + name);
    if (series == nullptr) return;
    auto reading = readings.begin();
    for (const auto& [time_ns, value] : series->points) {
      while (reading != readings.end() && reading->time_ns < time_ns) ++reading;
      for (auto at = reading; at != readings.end() && at->time_ns == time_ns; ++at) put(*at, value);
    }
  };
  fill("memory_working_set", [](MemoryReading& at, double value) { at.working_set = value; });
  fill("memory_swap", [](MemoryReading& at, double value) { at.swap = value; });
  fill("memory_anonymous", [](MemoryReading& at, double value) { at.anonymous = value; });
  fill("memory_shared", [](MemoryReading& at, double value) { at.shared = value; });
  fill("memory_cache", [](MemoryReading& at, double value) { at.cache = value; });
  fill("memory_peak", [](MemoryReading& at, double value) { at.peak = value; });
  fill("memory_interval_peak", [](MemoryReading& at, double v) { at.interval_peak = v; });
  fill("memory_lifetime_peak", [](MemoryReading& at, double v) { at.lifetime_peak = v; });
  fill("memory_limit_hits_total", [](MemoryReading& at, double v) { at.limit_hits = v; });
  fill("memory_at_limit", [](MemoryReading& at, double v) { at.at_limit = v; });
  return readings;
}

void add_need(const AllSeries& all, const std::string& scope,
              const std::vector<ProcessPeak>& processes, SizingFigures& figures) {
  figures.memory = memory_need(readings_of(all, scope), processes);
  figures.peak_memory_bytes = figures.memory.needed;
  figures.peak_with_cache_bytes = figures.memory.peak;
  if (const Series* swap = all.find(scope + " memory_swap"))
    figures.peak_swap_bytes = swap->largest();
}

void add_memory(const AllSeries& all, const Summary& summary,
                const std::vector<ProcessPeak>& processes, SizingFigures& figures) {
  const Run& run = summary.run();
  add_need(all, "cgroup", processes, figures);
  MemoryNeed& memory = figures.memory;
  if (run.cgroup_peak_bytes) {
    const auto peak = static_cast<double>(*run.cgroup_peak_bytes);
    figures.peak_with_cache_bytes = memory.peak = peak;
    if (!memory.needed) memory.needed = memory.floor = peak;
    memory.source = MemorySource::kKernelPeak;
    memory.needed = std::min(*memory.needed, peak + figures.peak_swap_bytes);
    figures.peak_memory_bytes = memory.needed;
  }
  if (memory.needed) return;
  auto resident = static_cast<double>(run.peak_rss_bytes.value_or(0));
  if (const Series* rss = all.find("tree rss")) resident = std::max(resident, rss->largest());
  if (resident <= 0) return;
  memory.source = MemorySource::kProcesses;
  figures.peak_memory_bytes = memory.needed = memory.floor = resident;
}

// Since the first reading: the kernel counts since the birth of the cgroup.
void add_throttling(const AllSeries& all, const std::string& scope, SizingFigures& figures) {
  const Series* periods = all.find(scope + " cpu_periods_total");
  const Series* throttled = all.find(scope + " cpu_throttled_periods_total");
  if (periods == nullptr || throttled == nullptr) return;
  figures.periods = periods->increase();
  figures.throttled_periods = throttled->increase();
  if (const Series* time = all.find(scope + " cpu_throttled_total"))
    figures.throttled_ns = time->increase();
  if (figures.periods > 0) figures.throttled_share = figures.throttled_periods / figures.periods;
}

void add_limits(const AllSeries& all, const Summary& summary, SizingFigures& figures) {
  read_kept_limits(summary.text(summary.run().limits), figures);
  add_throttling(all, "cgroup", figures);
  if (const Series* kills = all.find("cgroup oom_kills_total"))
    figures.oom_kills = kills->increase();
  if (summary.text(summary.run().end_reason) == "out of memory")
    figures.oom_kills = std::max(figures.oom_kills, 1.0);
}

void add_gpu(const AllSeries& all, SizingFigures& figures) {
  all.of_gpus("busy", [&](const Series& series) {
    std::vector<double> values;
    for (const auto& [time, value] : series.points) values.push_back(value);
    if (!values.empty())
      figures.gpu_share = std::max(figures.gpu_share.value_or(0), quantile(values, kBusy));
  });
  all.of_gpus("memory_used", [&](const Series& series) {
    figures.gpu_memory_bytes = std::max(figures.gpu_memory_bytes.value_or(0), series.largest());
  });
}

SizingFigures figures_of(const AllSeries& all, const std::string& scope, const Summary& summary,
                         const std::vector<ProcessPeak>& processes) {
  SizingFigures figures;
  const auto find = [&](const char* name) { return all.find(scope + " " + name); };
  const auto most = [&](const char* name) -> std::optional<double> {
    const Series* series = find(name);
    return series == nullptr ? std::nullopt : std::optional(series->largest());
  };
  figures.limit_cores = most("limit_cpus");
  figures.limit_memory_bytes = most("limit_memory");
  const Series cpu = cpu_of(all, scope);
  figures.mean_cores = cpu.mean_rate();
  add_rates(cpu, summary, false, figures);
  add_need(all, scope, processes, figures);
  figures.disk_read =
      disk_rate(find("disk_read_total"), find("process_disk_read_total"), figures.disk_read_source);
  figures.disk_written = disk_rate(find("disk_written_total"), find("process_disk_written_total"),
                                   figures.disk_written_source);
  figures.net_received = most_a_second(find("net_received_total"));
  figures.net_sent = most_a_second(find("net_sent_total"));
  if (const Series* kills = find("oom_kills_total")) figures.oom_kills = kills->increase();
  add_throttling(all, scope, figures);
  return figures;
}

double up_to(double value, double step) { return std::ceil(value / step - 1e-9) * step; }

// Of each container, those of its processes; of "" those of all.
class AllProcesses {
 public:
  AllProcesses(const Summary& summary) : last_ns_(summary.run().end_ns.value_or(INT64_MAX)) {}
  void add(const Collected& tables) {
    for (const Process& process : tables.rows.of<Process>()) {
      // Where the last reading is all that is known, a later peak is not.
      const bool known = tables.text(process.accounting) != "polled" || !process.end_ns;
      ProcessPeak peak{process.start_ns, process.end_ns.value_or(last_ns_), {}};
      if (known && process.peak_rss_bytes)
        peak.bytes = static_cast<double>(*process.peak_rss_bytes);
      of_[""].push_back(peak);
      const std::string container(tables.text(process.container));
      if (!container.empty()) of_[container].push_back(peak);
    }
  }
  const std::vector<ProcessPeak>& of(const std::string& container) { return of_[container]; }

 private:
  int64_t last_ns_;
  std::map<std::string, std::vector<ProcessPeak>> of_;
};

}  // namespace

double whole_cores(double cores, double interval_ns) {
  const double whole = std::floor(cores);
  const bool barely = whole > 0 && (cores - whole) * interval_ns <= 2 * kCpuUpdateNs * whole;
  return barely ? whole : cores;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::min(values.size() - 1, rank == 0 ? 0 : rank - 1)];
}

void read_kept_limits(std::string_view text, SizingFigures& figures) {
  for (const std::string_view part : split_words(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const auto value = parse_real(part.substr(equals + 1));
    if (!value.ok()) continue;
    if (part.starts_with("cpus=")) figures.limit_cores = value.value();
    if (part.starts_with("memory=")) figures.limit_memory_bytes = value.value();
  }
}

SizingAdvice advise(const SizingFigures& figures) {
  SizingAdvice advice;
  if (figures.p95_cores) {
    const double request = std::max(kCpuStep, up_to(*figures.p95_cores, kCpuStep));
    const double limit = up_to(figures.peak_cores.value_or(0) * kCpuLimitRoom, kCpuStep);
    advice.request_cores = request;
    advice.limit_cores = std::max(request, limit);
  }
  if (figures.peak_memory_bytes) {
    const double memory = *figures.peak_memory_bytes;
    const double request = std::max(kMemoryStep, up_to(memory * kMemoryRoom, kMemoryStep));
    advice.request_bytes = request;
    advice.limit_bytes = std::max({request, up_to(memory * kMemoryLimitRoom, kMemoryStep),
                                   up_to(figures.memory.floor, kMemoryStep)});
  }
  // What was killed for want of memory, or held at its limit, has not shown what it needs.
  if (figures.oom_kills > 0 && figures.limit_memory_bytes)
    advice.request_bytes = advice.limit_bytes = std::max(
        advice.limit_bytes.value_or(0), up_to(*figures.limit_memory_bytes * 2, kMemoryStep));
  advice.gpus = figures.gpu_share || figures.gpu_memory_bytes ? 1 : 0;
  return advice;
}

std::string request_rule() {
  return fmt::format(
      "p95 of the cores, and memory needed + {:.0f} %; rounded up to {:.0f}m and {:.0f}Mi",
      100 * (kMemoryRoom - 1), 1000 * kCpuStep, kMemoryStep / (1 << 20));
}

std::string limit_rule(const SizingFigures& figures) {
  if (figures.oom_kills > 0 && figures.limit_memory_bytes)
    return fmt::format("most cores + {:.0f} %; memory: twice the limit that was too low",
                       100 * (kCpuLimitRoom - 1));
  return fmt::format(
      "most cores + {:.0f} %, and memory needed + {:.0f} %, at least the kernel's peak less page "
      "cache "
      "seen; rounded up",
      100 * (kCpuLimitRoom - 1), 100 * (kMemoryLimitRoom - 1));
}

std::vector<std::string> sizing_warnings(const SizingFigures& figures, int64_t duration_ns) {
  std::vector<std::string> warnings;
  if (figures.oom_kills > 0)
    warnings.push_back(fmt::format(
        "out of memory ({:.0f} process{} killed): it needs more than was measured; the advice is "
        "twice its limit, to be measured again",
        figures.oom_kills, figures.oom_kills == 1 ? "" : "es"));
  if (figures.throttled_share.value_or(0) > 0.05)
    warnings.push_back(fmt::format(
        "throttled in {:.0f} % of the periods by its CPU limit{}: it would use more, and be "
        "faster; "
        "measure again without the limit",
        100 * *figures.throttled_share,
        figures.limit_cores ? fmt::format(" of {:g} cores", *figures.limit_cores) : ""));
  else if (figures.waited_share.value_or(0) > kMuchWaiting)
    warnings.push_back(fmt::format(
        "waited for a core in {:.0f} % of the time it could run: on an idle machine, or with more "
        "cores, it would use more; measure again there",
        100 * *figures.waited_share));
  const double most = figures.limit_memory_bytes.value_or(0);
  if (most > 0 && figures.oom_kills == 0 && figures.peak_memory_bytes.value_or(0) > 0.9 * most)
    warnings.push_back(fmt::format("near its memory limit: {} of {}",
                                   format_bytes(*figures.peak_memory_bytes), format_bytes(most)));
  if (figures.peak_swap_bytes > 0)
    warnings.push_back(fmt::format("{} of it were in swap, and count as needed",
                                   format_bytes(figures.peak_swap_bytes)));
  // A peak during the recording would have raised an older one.
  const double older = figures.memory.lifetime_peak.value_or(0);
  if (figures.memory.source == MemorySource::kReadings &&
      older > std::max(kMemoryStep, figures.peak_memory_bytes.value_or(0) * kMemoryLimitRoom))
    warnings.push_back(fmt::format(
        "memory needed is the highest of {} readings: up to {}, the kernel's peak from before the "
        "recording, may have been needed between them",
        figures.memory.readings, format_bytes(older)));
  if (duration_ns < kLongRun)
    warnings.push_back("the run was shorter than 10 s: a p95 of few intervals is uncertain");
  return warnings;
}

Result<Sizing> work_out_sizing(const Recording& recording, const Summary& summary) {
  AllSeries all;
  TRY(recording.read(tables_of<Gauge>(), [&](const Batch& batch) -> Status {
    all.add(batch);
    return {};
  }));
  all.sort();
  // Of a journal the last row of each process counts: the rows before it have no peak.
  TRY_ASSIGN(const auto collected, collect(recording, tables_of<Process>()));
  AllProcesses processes(summary);
  processes.add(*collected);
  Sizing sizing;
  SizingFigures& figures = sizing.figures;
  add_limits(all, summary, figures);
  add_cpu(all, summary, figures);
  add_memory(all, summary, processes.of(""), figures);
  add_gpu(all, figures);
  figures.disk_read = disk_rate(all.find("cgroup disk_read_total"),
                                all.find("tree disk_read_total"), figures.disk_read_source);
  figures.disk_written =
      disk_rate(all.find("cgroup disk_written_total"), all.find("tree disk_written_total"),
                figures.disk_written_source);
  figures.net_received = most_a_second(all.find("cgroup net_received_total"));
  figures.net_sent = most_a_second(all.find("cgroup net_sent_total"));
  figures.read_calls = most_a_second(all.find("tree read_chars_total"));
  figures.write_calls = most_a_second(all.find("tree written_chars_total"));
  sizing.advice = advise(figures);
  sizing.warnings = sizing_warnings(figures, summary.duration_ns);
  for (const std::string& name : all.containers()) {
    ContainerSizing one{
        name, figures_of(all, std::string(kContainer) + name, summary, processes.of(name)), {}, {}};
    one.advice = advise(one.figures);
    // That the run was short is said once.
    one.warnings = sizing_warnings(one.figures, std::max(summary.duration_ns, kLongRun));
    sizing.containers.push_back(std::move(one));
  }
  return sizing;
}

}  // namespace fathom
