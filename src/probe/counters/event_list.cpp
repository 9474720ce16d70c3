// SPDX-License-Identifier: Apache-2.0
#include "probe/counters/event_list.h"

#include <algorithm>

namespace fathom {
namespace {

Error bad_list(std::string_view list, const char* why) {
  return {Code::kInvalid, "--counters " + std::string(list) + ": " + why,
          "--counters 'page-faults,{cycles,instructions}'"};
}

Status add_event(std::string_view name, int group, std::vector<EventRequest>& events) {
  if (name.empty()) return {};
  const auto same = [&](const EventRequest& event) { return event.name == name; };
  if (std::any_of(events.begin(), events.end(), same)) return {};
  EventRequest event;
  event.name = name;
  event.group = group;
  auto found = find_perf_event(event.name);
  if (found.ok())
    event.what = std::move(found).value();
  else if (found.error().code == Code::kPermission)
    event.why = found.error().hint;
  else if (found.error().code == Code::kUnsupported)
    event.why = found.error().message;
  else
    return std::move(found).error();
  events.push_back(std::move(event));
  return {};
}

}  // namespace

Result<std::vector<EventRequest>> parse_events(std::string_view list) {
  std::vector<EventRequest> events;
  int groups = 0;
  bool inside = false;
  size_t begin = 0;
  for (size_t at = 0; at <= list.size(); ++at) {
    const char c = at < list.size() ? list[at] : ',';
    if (c != ',' && c != '{' && c != '}' && c != ' ') continue;
    TRY(add_event(list.substr(begin, at - begin), inside ? groups : -1, events));
    begin = at + 1;
    if (c == '{' && inside) return bad_list(list, "a group within a group");
    if (c == '}' && !inside) return bad_list(list, "a brace is closed that was not opened");
    if (c == '{') inside = true;
    if (c == '}') {
      inside = false;
      ++groups;
    }
  }
  if (inside) return bad_list(list, "a brace is not closed");
  if (events.empty()) return bad_list(list, "no event is named");
  return events;
}

bool kernel_only(const PerfEventName& what) {
  if (what.attr.type == PERF_TYPE_TRACEPOINT) return true;
  if (what.attr.type != PERF_TYPE_SOFTWARE) return false;
  return what.attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
         what.attr.config == PERF_COUNT_SW_CPU_MIGRATIONS ||
         what.attr.config == PERF_COUNT_SW_CGROUP_SWITCHES;
}

bool is_clock(const PerfEventName& what) {
  return what.attr.type == PERF_TYPE_SOFTWARE && (what.attr.config == PERF_COUNT_SW_CPU_CLOCK ||
                                                  what.attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

bool is_hardware(const PerfEventName& what) {
  return what.attr.type != PERF_TYPE_SOFTWARE && what.attr.type != PERF_TYPE_TRACEPOINT;
}

}  // namespace fathom
