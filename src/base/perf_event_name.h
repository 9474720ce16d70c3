// SPDX-License-Identifier: Apache-2.0
// Events by name: "cpu-clock", "cycles:u", "sched:sched_switch" and whatever libpfm4 knows of this
// machine's PMU. Any thread, but not two at once.
#pragma once

#include <linux/perf_event.h>

#include <string>

#include "base/result.h"

namespace fathom {

struct PerfEventName {
  perf_event_attr attr{};  // type, config and the exclude bits that ":u" and ":k" mean
  const char* unit = "";   // "ns" or "count"
};

// kInvalid: unknown name, with a suggestion where one is near. kPermission, kUnsupported: it may be
// a tracepoint, and their list cannot be read.
Result<PerfEventName> find_perf_event(const std::string& name);

}  // namespace fathom
