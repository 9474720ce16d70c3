// SPDX-License-Identifier: Apache-2.0
// Why an event cannot be counted on this machine, in words for people. Any thread.
#pragma once

#include <string>

#include "base/perf_event_name.h"
#include "base/result.h"

namespace fathom {

// Whether the kernel drives a PMU of this CPU.
bool has_pmu();
// What the error of perf_event_open means for this event.
std::string refusal(const PerfEventName& what, const Error& error);
// What was asked for is never counted; empty: it can be.
std::string senseless(const PerfEventName& what);

}  // namespace fathom
