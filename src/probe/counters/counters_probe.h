// SPDX-License-Identifier: Apache-2.0
// Counts what the CPU and the kernel do for the target: cycles, cache misses, page faults, context
// switches, any tracepoint. See README.md beside it.
#pragma once

#include <memory>
#include <vector>

#include "probe/probe.h"

namespace fathom {

std::unique_ptr<Probe> make_counters_probe(const ProbeSettings& settings);
std::vector<Rung> examine_counters();

}  // namespace fathom
