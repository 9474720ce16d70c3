// SPDX-License-Identifier: Apache-2.0
// Figures of the run's cgroup, in version 2 or version 1 form.
#pragma once

#include "launch/cgroup.h"
#include "record/records.h"

namespace fathom {

struct CgroupFigures {
  Maybe user_ns, system_ns, usage_ns, throttled_ns;
  Maybe memory_bytes, peak_memory_bytes, oom_kills;
  Maybe read_bytes, written_bytes, pids;
  Maybe cpu_pressure_ns, io_pressure_ns, memory_pressure_ns;  // time some task was held up
};

CgroupFigures read_cgroup(const Cgroup& cgroup);

}  // namespace fathom
