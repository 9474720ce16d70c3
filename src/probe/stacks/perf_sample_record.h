// SPDX-License-Identifier: Apache-2.0
// Reads the samples that perf writes for the events of sample_events.cpp. Any thread.
#pragma once

#include <linux/perf_event.h>

#include <vector>

#include "probe/stacks/sample_source.h"

namespace fathom {

// What a record says; where it ends early, the rest is 0 or empty. The sample refers to the record
// and to `kernel`, which is overwritten.
RawSample read_perf_sample(const perf_event_header& header, std::vector<uint64_t>& kernel);

}  // namespace fathom
