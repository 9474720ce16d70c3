// SPDX-License-Identifier: Apache-2.0
// Where CPU time goes: samples of kernel and user stacks of the target, unwound without frame
// pointers and named. What it needs, costs and cannot see stands in README.md beside this file.
#pragma once

#include "probe/probe.h"

namespace fathom {

std::unique_ptr<Probe> make_stacks_probe(const ProbeSettings& settings);
std::vector<Rung> examine_stacks();

}  // namespace fathom
