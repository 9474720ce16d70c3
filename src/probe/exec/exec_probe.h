// SPDX-License-Identifier: Apache-2.0
// Any program that prints figures, line by line, is a probe.
#pragma once

#include <memory>
#include <vector>

#include "probe/probe.h"

namespace fathom {

std::unique_ptr<Probe> make_exec_probe(const ProbeSettings& settings);
std::vector<Rung> examine_exec();

}  // namespace fathom
