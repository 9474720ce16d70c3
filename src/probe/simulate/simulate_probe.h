// SPDX-License-Identifier: Apache-2.0
// Runs the command under Valgrind and takes instructions, cache and branch figures per function
// from what it writes, for machines without a PMU. See README.md beside it.
#pragma once

#include <memory>
#include <vector>

#include "probe/probe.h"

namespace fathom {

std::unique_ptr<Probe> make_simulate_probe(const ProbeSettings& settings);
std::vector<Rung> examine_simulate();

}  // namespace fathom
