// SPDX-License-Identifier: Apache-2.0
// What a program asks of its C library: files, sockets, memory maps. See README.md.
#pragma once

#include <memory>
#include <vector>

#include "probe/probe.h"

namespace fathom {

std::unique_ptr<Probe> make_io_probe(const ProbeSettings& settings);
std::vector<Rung> examine_io();
// What would be attached in the kernel for these layers, where, and about at what cost.
Result<std::string> io_plan(std::string_view layers);

}  // namespace fathom
