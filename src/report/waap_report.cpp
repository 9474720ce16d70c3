// SPDX-License-Identifier: Apache-2.0
#include "report/waap_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "report/sizing.h"

namespace fathom {
namespace {

using Points = std::map<int64_t, double>;  // by time

struct Looks {
  Points user, system, memory;
  std::vector<Points> cores;
};

// What was looked at in one scope.
void take(const Batch& batch, std::string_view scope, Looks& looks) {
  for (const Gauge& gauge : batch.rows.of<Gauge>()) {
    if (batch.dictionary.text(gauge.scope) != scope) continue;
    const std::string_view name = batch.dictionary.text(gauge.name);
    if (name == "cpu_user_total") looks.user[gauge.time_ns] = gauge.value;
    if (name == "cpu_system_total") looks.system[gauge.time_ns] = gauge.value;
    if (name == "memory" || name == "rss") looks.memory[gauge.time_ns] = gauge.value;
    if (!name.starts_with("cpu") || !name.ends_with("_total")) continue;
    const auto core = parse_number(name.substr(3, name.size() - 9));
    if (!core.ok() || core.value() < 0 || core.value() > 4096) continue;
    const auto number = static_cast<size_t>(core.value());
    if (looks.cores.size() <= number) looks.cores.resize(number + 1);
    looks.cores[number][gauge.time_ns] = gauge.value;
  }
}

constexpr int64_t kShortestNs = 90'000'000;  // what is shorter is no rate but noise

// The times of looks that are far enough from each other; the first is where rates begin.
std::vector<int64_t> times_of(const Points& points) {
  std::vector<int64_t> times;
  for (const auto& [time_ns, value] : points)
    if (times.empty() || time_ns - times.back() >= kShortestNs) times.push_back(time_ns);
  return times;
}

// The same of those at which CPU time was read as well: memory is read more often.
std::vector<int64_t> times_of(const Looks& looks) {
  Points both;
  for (const auto& [time_ns, bytes] : looks.memory)
    if (looks.user.contains(time_ns) && looks.system.contains(time_ns)) both[time_ns] = bytes;
  return times_of(both);
}

// Of a total, between two looks; absent: it was not looked at then.
std::optional<double> rate_between(const Points& points, int64_t from_ns, int64_t to_ns) {
  const auto from = points.find(from_ns), to = points.find(to_ns);
  if (from == points.end() || to == points.end()) return std::nullopt;
  return (to->second - from->second) / static_cast<double>(to_ns - from_ns);
}

struct Loaded {
  Summary summary;
  Looks looks, host;
  double memory_bytes = 0;  // there is
};

Result<Loaded> load(const Recording& recording) {
  Loaded loaded;
  TRY_ASSIGN(loaded.summary, summarize(recording));
  Looks cgroup, tree;
  TRY(recording.read(tables_of<Gauge>(), [&](const Batch& batch) -> Status {
    take(batch, "cgroup", cgroup);
    take(batch, "tree", tree);
    take(batch, "host", loaded.host);
    return {};
  }));
  loaded.looks = cgroup.user.empty() || cgroup.memory.empty() ? std::move(tree) : std::move(cgroup);
  if (loaded.looks.user.empty())
    return Error{Code::kNotFound, "the recording has no looks at CPU and memory",
                 "record with the probe resources"};
  SizingFigures limits;
  read_kept_limits(loaded.summary.text(loaded.summary.run().limits), limits);
  loaded.memory_bytes = limits.limit_memory_bytes.value_or(
      static_cast<double>(loaded.summary.run().memory_bytes.value_or(0)));
  return loaded;
}

double unix_seconds(const Loaded& loaded, int64_t time_ns) {
  return static_cast<double>(time_ns + loaded.summary.run().real_offset_ns) * 1e-9;
}

std::optional<double> memory_share(const Loaded& loaded, int64_t time_ns) {
  const auto found = loaded.looks.memory.find(time_ns);
  if (found == loaded.looks.memory.end() || loaded.memory_bytes <= 0) return std::nullopt;
  return 100 * found->second / loaded.memory_bytes;
}

Error too_few_readings() {
  return {Code::kNotFound, "the recording has fewer than two readings of CPU and memory",
          "read more often: fathom run --interval 10ms"};
}

std::string number_or_null(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : "null";
}

}  // namespace

Status write_waap_json(const Recording& recording, const ReportOptions& options) {
  TRY_ASSIGN(const Loaded loaded, load(recording));
  std::string text = "[";
  const char* between = "\n";
  const std::vector<int64_t> times = times_of(loaded.looks);
  for (size_t i = 1; i < times.size(); ++i) {
    const int64_t time_ns = times[i];
    const double bytes = loaded.looks.memory.at(time_ns);
    const auto user = rate_between(loaded.looks.user, times[i - 1], time_ns);
    const auto system = rate_between(loaded.looks.system, times[i - 1], time_ns);
    if (!user || !system) continue;
    text += fmt::format(
        "{}  {{\"container_ram_usage\": {:.0f}, \"cpu_utilization\": {:.3f}, \"ram_utilization\": "
        "{}, \"timestamp\": {:.3f}}}",
        between, bytes, 100 * (*user + *system), number_or_null(memory_share(loaded, time_ns)),
        unix_seconds(loaded, time_ns));
    between = ",\n";
  }
  if (text == "[") return too_few_readings();
  return print_to(options.out, text + "\n]\n");
}

Status write_waap_csv(const Recording& recording, const ReportOptions& options) {
  TRY_ASSIGN(const Loaded loaded, load(recording));
  const std::vector<Points>& cores =
      loaded.looks.cores.empty() ? loaded.host.cores : loaded.looks.cores;
  if (cores.empty())
    return Error{Code::kNotFound, "the recording does not know the CPU time of each core",
                 "those of containers do: fathom run --image IMAGE"};
  std::string text = "time";
  for (size_t core = 0; core < cores.size(); ++core) text += fmt::format(",CPU{}%", core);
  text += ",Memory%\n";
  const std::vector<int64_t> times = times_of(cores[0]);
  for (size_t i = 1; i < times.size(); ++i) {
    const int64_t time_ns = times[i];
    std::string line = fmt::format("{:.3f}", unix_seconds(loaded, time_ns));
    bool whole = true;
    for (const Points& core : cores) {
      const auto rate = rate_between(core, times[i - 1], time_ns);
      whole = whole && rate.has_value();
      line += fmt::format(",{:.2f}", 100 * rate.value_or(0));
    }
    const auto memory = memory_share(loaded, time_ns);
    if (whole) text += line + (memory ? fmt::format(",{:.3f}\n", *memory) : ",\n");
  }
  if (text.ends_with(",Memory%\n")) return too_few_readings();
  return print_to(options.out, text);
}

}  // namespace fathom
