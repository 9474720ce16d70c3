// SPDX-License-Identifier: Apache-2.0
// What --counters asks for: names with commas between, those that must be counted at the same time
// in braces: "page-faults,{cycles,instructions:u}". Pure functions: any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/perf_event_name.h"
#include "base/result.h"

namespace fathom {

// Counted where nothing else is asked for.
constexpr std::string_view kUsualEvents =
    "task-clock,context-switches,cpu-migrations,page-faults,"
    "{cycles,instructions},{branches,branch-misses},{cache-references,cache-misses}";

struct EventRequest {
  std::string name;  // as it was written
  PerfEventName what;
  int group = -1;        // events of one number are scheduled together; -1: by itself
  std::string why = {};  // it cannot even be looked up; empty: it was
};

// The events in order, each once. kInvalid for what nobody knows, with a suggestion. A tracepoint
// that this user may not see might be there: it says why it is not counted.
Result<std::vector<EventRequest>> parse_events(std::string_view list);

// Whether it happens in the kernel only, so that user mode alone has none of it.
bool kernel_only(const PerfEventName& what);
// A clock runs whatever the mode: it cannot tell user from kernel time.
bool is_clock(const PerfEventName& what);
// Of the CPU's own counters, which a virtual machine may not have.
bool is_hardware(const PerfEventName& what);

}  // namespace fathom
