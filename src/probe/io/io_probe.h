// SPDX-License-Identifier: Apache-2.0
// What a program asks of its C library: files, sockets, memory maps. See README.md.
#pragma once

#include <memory>
#include <vector>

#include "probe/probe.h"

namespace fathom {

std::unique_ptr<Probe> make_io_probe(const ProbeSettings& settings);
std::vector<Rung> examine_io();
// What would be attached in the kernel for these layers and this probe set (a file; empty: none),
// where, by which rung and about at what cost.
Result<std::string> io_plan(const std::string& layers, const std::string& probe_set);

}  // namespace fathom
