// SPDX-License-Identifier: Apache-2.0
#include "report/counter_parts.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/event_ratios.h"
#include "report/timeline_text.h"

namespace fathom {
namespace {

constexpr size_t kMostParts = 8;

std::string count_of(const Summary& summary, const EventCount& event) {
  return summary.text(event.unit) == "ns" ? format_duration_ns(*event.count)
                                          : format_count(*event.count);
}

}  // namespace

std::vector<std::string> counter_parts(const Summary& summary) {
  std::map<std::string, EventCounts, std::less<>> counts;  // by source
  for (const EventCount& event : summary.tables->rows.of<EventCount>())
    if (event.count)
      counts[std::string(summary.text(event.source))].emplace(summary.text(event.name),
                                                              *event.count);
  std::vector<std::string> parts;
  size_t missing = 0, more = 0;
  for (const EventCount& event : summary.tables->rows.of<EventCount>()) {
    if (!event.count) {
      ++missing;
      continue;
    }
    if (parts.size() == kMostParts) {
      ++more;
      continue;
    }
    const std::string_view name = summary.text(event.name);
    const auto ratio = event_ratio(name, counts[std::string(summary.text(event.source))]);
    parts.push_back(count_of(summary, event) + " " + printable(name) +
                    (ratio ? " (" + *ratio + ")" : ""));
  }
  const auto events = [](size_t count) {
    return format_count(count) + (count == 1 ? " event" : " events");
  };
  if (more > 0) parts.push_back(events(more) + " more in --as stat");
  if (missing > 0) parts.push_back(events(missing) + " not supported here");
  return parts;
}

std::vector<std::string> told_parts(const Summary& summary) {
  std::vector<std::string> parts;
  size_t more = 0;
  for (const auto& [scope_and_name, range] : summary.gauges) {
    const size_t space = scope_and_name.find(' ');
    const std::string_view scope = std::string_view(scope_and_name).substr(0, space);
    if (scope != "app" && scope != "exec") continue;
    if (parts.size() == kMostParts) {
      ++more;
      continue;
    }
    parts.push_back(printable(scope_and_name.substr(space + 1)) + " " + number_text(range.last) +
                    (range.unit.empty() ? "" : " " + printable(range.unit)));
    if (range.largest > range.last) parts.back() += " (peak " + number_text(range.largest) + ")";
  }
  if (more > 0) parts.push_back(fmt::format("{} more in --as html", format_count(more)));
  return parts;
}

}  // namespace fathom
