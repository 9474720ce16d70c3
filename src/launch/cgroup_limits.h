// SPDX-License-Identifier: Apache-2.0
// Limits of CPU and memory as the kernel enforces them, of version 1 and version 2. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "launch/cgroup.h"

namespace fathom {

struct CgroupLimits {
  std::optional<double> cpus;  // cores
  std::optional<int64_t> memory_bytes;
};

// The lowest limits of these directories and of the cgroups above them. Empty paths have none.
CgroupLimits read_cgroup_limits(const std::string& cpu, const std::string& memory);
// In the form of runs.limits: "cpus=0.5,memory=1073741824"; empty without limits.
std::string cgroup_limits_text(const Cgroup& cgroup);

}  // namespace fathom
