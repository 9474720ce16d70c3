// SPDX-License-Identifier: Apache-2.0
#include "report/event_cut.h"

#include <map>
#include <string>

namespace fathom {
namespace {

constexpr std::string_view kSliceLayer = "cpu";  // of the counters probe: all threads together
constexpr std::string_view kCounted = "perf";

}  // namespace

Status cut_event_counts(const Recording& recording, Collected& tables) {
  if (!recording.cut()) return {};
  std::map<std::string, int64_t, std::less<>> counts;
  TRY(recording.read(tables_of<Counter>(), [&](const Batch& batch) -> Status {
    for (const Counter& counter : batch.rows.of<Counter>()) {
      if (batch.dictionary.text(counter.layer) != kSliceLayer) continue;
      counts[std::string(batch.dictionary.text(counter.name))] += counter.count;
    }
    return {};
  }));
  std::erase_if(tables.rows.of<EventCount>(), [&](const EventCount& event) {
    return tables.text(event.source) != kCounted ||
           (event.count && !counts.contains(tables.text(event.name)));
  });
  for (EventCount& event : tables.rows.of<EventCount>()) {
    if (event.count) event.count = counts.find(tables.text(event.name))->second;
    event.enabled_ns = event.running_ns = std::nullopt;
  }
  return {};
}

}  // namespace fathom
