// SPDX-License-Identifier: Apache-2.0
#include "hub/live_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "hub/contribution.h"

namespace fathom {
namespace {

constexpr size_t kMostShown = 20;
constexpr size_t kMostRuns = 2000;

uint64_t size_of(int64_t delta) {
  return delta < 0 ? 0 - static_cast<uint64_t>(delta) : static_cast<uint64_t>(delta);
}

std::string sums_json(const Change& change) {
  std::vector<const SumDelta*> largest;
  for (const SumDelta& sum : change.sums) largest.push_back(&sum);
  const size_t shown = std::min(largest.size(), kMostShown);
  std::partial_sort(
      largest.begin(), largest.begin() + static_cast<ptrdiff_t>(shown), largest.end(),
      [](const SumDelta* a, const SumDelta* b) { return size_of(a->delta) > size_of(b->delta); });
  std::string json;
  for (size_t i = 0; i < shown; ++i) {
    const SumName name = split_sum_key(largest[i]->key);
    json += fmt::format("{}{{\"node\":{},\"execname\":{},\"event\":{},\"added\":{}}}",
                        json.empty() ? "" : ",", json_quote(name.symbol.substr(0, 300)),
                        json_quote(name.program.substr(0, 300)),
                        json_quote(name.event.substr(0, 300)), largest[i]->delta);
  }
  return json;
}

std::string runs_json(const Change& change) {
  std::string json;
  for (size_t i = 0; i < std::min(change.runs.size(), kMostRuns); ++i)
    json += fmt::format("{}{}:{}", json.empty() ? "" : ",", json_quote(change.runs[i].run),
                        change.runs[i].to);
  return json;
}

std::string rows_json(const Change& change) {
  std::string json;
  for (size_t i = 0; i < std::min(change.rows.size(), kMostShown); ++i)
    if (change.rows[i].size() < 4096) json += (json.empty() ? "" : ",") + change.rows[i];
  return json;
}

std::string moments_json(const Change& change) {
  std::string gauges, marks;
  for (size_t i = 0; i < std::min(change.gauges.size(), kMostShown * 10); ++i) {
    const GaugeValue& gauge = change.gauges[i];
    if (!std::isfinite(gauge.value)) continue;
    gauges +=
        fmt::format("{}{{\"scope\":{},\"name\":{},\"unit\":{},\"value\":{},\"time\":\"{}\"}}",
                    gauges.empty() ? "" : ",", json_quote(gauge.scope), json_quote(gauge.name),
                    json_quote(gauge.unit), gauge.value, utc_text(gauge.time_ns));
  }
  for (size_t i = 0; i < std::min(change.marks.size(), kMostShown * 10); ++i)
    marks += fmt::format("{}{{\"text\":{},\"time\":\"{}\"}}", marks.empty() ? "" : ",",
                         json_quote(change.marks[i].text), utc_text(change.marks[i].time_ns));
  return fmt::format("\"gauges\":[{}],\"marks\":[{}]", gauges, marks);
}

}  // namespace

std::string live_event(const Change& change, int64_t updates) {
  return fmt::format(
      "{{\"job\":{},\"time\":\"{}\",\"updates\":{},\"nodes\":{},\"runs\":{{{}}},\"sums\":[{}],"
      "\"rows\":[{}],\"row_count\":{},{}}}",
      change.job, utc_text(change.time_ns), updates, change.sums.size(), runs_json(change),
      sums_json(change), rows_json(change), change.rows.size(), moments_json(change));
}

}  // namespace fathom
