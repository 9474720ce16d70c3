// SPDX-License-Identifier: Apache-2.0
#include "record/metrics_page.h"

#include <fmt/format.h>

#include <type_traits>
#include <unordered_map>

namespace fathom {
namespace {

using Series = OpenMetricsText::Series;
using Type = OpenMetricsText::Type;

struct Ids {
  StringId scope, name, unit;
  bool operator==(const Ids&) const = default;
};
struct HashIds {
  size_t operator()(const Ids& ids) const {
    size_t hash = index_of(ids.scope);
    hash = hash * 1'000'003 + index_of(ids.name);
    return hash * 1'000'003 + index_of(ids.unit);
  }
};

// The last of each in these rows: there may be a hundred thousand of a few.
std::unordered_map<Ids, const Gauge*, HashIds> last_of(const std::vector<Gauge>& gauges) {
  std::unordered_map<Ids, const Gauge*, HashIds> last;
  for (const Gauge& gauge : gauges) {
    const Gauge*& kept = last[{gauge.scope, gauge.name, gauge.unit}];
    if (kept == nullptr || gauge.time_ns >= kept->time_ns) kept = &gauge;
  }
  return last;
}

// As the schema has it: what ends so adds up since the start.
bool adds_up(std::string_view name, std::string_view unit) {
  return name.ends_with("_total") && (unit == "ns" || unit == "bytes" || unit == "count");
}

Series series_of(const std::string& scope, const std::string& name, const std::string& unit) {
  const size_t blank = scope.find(' ');
  Series series;
  series.type = adds_up(name, unit) ? Type::kCounter : Type::kGauge;
  series.name = "fathom_" + scope.substr(0, blank) + "_" + name;
  series.unit = unit;
  series.help = fmt::format("{} of {}, in {}", name, scope.substr(0, blank),
                            unit.empty() || unit == "count" ? "units of 1" : unit);
  if (blank != std::string::npos) series.labels.emplace_back("id", scope.substr(blank + 1));
  if (const std::string valid = "_" + name; openmetrics_name(valid) != valid)
    series.labels.emplace_back("name", name);
  return series;
}

}  // namespace

void MetricsPage::take(const Rows& rows, const Dictionary& names) {
  for (const Run& run : rows.of<Run>()) take_run(run, names);
  for (const auto& [ids, gauge] : last_of(rows.of<Gauge>())) {
    std::tuple key(std::string(names.text(ids.scope)), std::string(names.text(ids.name)),
                   std::string(names.text(ids.unit)));
    auto found = gauges_.find(key);
    if (found == gauges_.end()) {
      if (gauges_.size() >= kMostSeries) {
        ++left_out_;
        continue;
      }
      found = gauges_.emplace(std::move(key), Last{gauge->time_ns, gauge->value}).first;
    }
    if (gauge->time_ns >= found->second.time_ns) found->second = {gauge->time_ns, gauge->value};
  }
}

void MetricsPage::take_run(const Run& run, const Dictionary& names) {
  run_ = run;
  run_labels_.clear();
  const std::pair<const char*, StringId> labels[] = {
      {"id", run.id}, {"label", run.label}, {"host", run.host}, {"version", run.version}};
  for (const auto& [name, text] : labels) run_labels_.emplace_back(name, names.text(text));
}

// Every number of the run that is known and no moment.
void MetricsPage::add_run(OpenMetricsText& text) const {
  if (!run_) return;
  text.add({.type = Type::kInfo,
            .name = "fathom_run",
            .unit = "",
            .help = "What is recorded",
            .labels = run_labels_,
            .value = 1});
  const auto add = [&text](std::string name, const char* unit, const char* help, double value) {
    if (unit == std::string_view("ns") && name.ends_with("_ns")) name.resize(name.size() - 3);
    text.add({.name = "fathom_run_" + name, .unit = unit, .help = help, .value = value});
  };
  add("start_time_ns", "ns", "start, since 1970",
      static_cast<double>(run_->start_ns + run_->real_offset_ns));
  if (run_->end_ns)
    add("duration_ns", "ns", "from start to end",
        static_cast<double>(*run_->end_ns - run_->start_ns));
  for_each_field<Run>([&](const auto& field, uint32_t /*number*/) {
    if constexpr (std::is_same_v<std::decay_t<decltype((*run_).*field.member)>, Maybe>) {
      const std::string_view name = field.name;
      if (name == "end_ns" || name == "hub_offset_ns") return;
      if (const Maybe& value = (*run_).*field.member)
        add(field.name, field.unit, field.help, static_cast<double>(*value));
    }
  });
}

std::string MetricsPage::text(Times times, OpenMetricsText::Form form) const {
  OpenMetricsText text;
  add_run(text);
  for (const auto& [key, last] : gauges_) {
    const auto& [scope, name, unit] = key;
    Series series = series_of(scope, name, unit);
    series.value = last.value;
    if (times == Times::kShown && run_)
      series.time_s = static_cast<double>(last.time_ns + run_->real_offset_ns) * 1e-9;
    text.add(series);
  }
  if (left_out_ > 0)
    text.add({.name = "fathom_series_left_out",
              .unit = "count",
              .help = "values of series beyond the most that are kept",
              .value = static_cast<double>(left_out_)});
  return text.text(form);
}

}  // namespace fathom
