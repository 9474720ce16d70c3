// SPDX-License-Identifier: Apache-2.0
// What applications say of themselves over the run's socket: values over time, and marks.
#pragma once

#include <memory>
#include <vector>

#include "probe/probe.h"

namespace fathom {

// Its path, in the target's environment.
constexpr const char* kAppSocketVariable = "FATHOM_SOCKET";

std::unique_ptr<Probe> make_app_probe(const ProbeSettings& settings);
std::vector<Rung> examine_app();

}  // namespace fathom
