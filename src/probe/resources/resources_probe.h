// SPDX-License-Identifier: Apache-2.0
// CPU, memory, faults, disk, network, threads, open files and pressure of the process tree, its
// cgroup and the host. Cheap enough to be always on; what it costs stands in README.md beside this
// file.
#pragma once

#include "probe/probe.h"

namespace fathom {

std::unique_ptr<Probe> make_resources_probe(const ProbeSettings& settings);
std::vector<Rung> examine_resources();

}  // namespace fathom
