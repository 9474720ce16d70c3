// SPDX-License-Identifier: Apache-2.0
// Figures of the run's cgroup, in version 2 or version 1 form. Files are opened once. Belongs to
// one thread.
#pragma once

#include "base/reread.h"
#include "launch/cgroup.h"
#include "record/records.h"

namespace fathom {

struct CgroupFigures {
  Maybe user_ns, system_ns, usage_ns, throttled_ns;
  Maybe memory_bytes, peak_memory_bytes, oom_kills;
  Maybe read_bytes, written_bytes, pids;
  Maybe cpu_pressure_ns, io_pressure_ns, memory_pressure_ns;  // time some task was held up
};

class CgroupReader {
 public:
  explicit CgroupReader(const Cgroup& cgroup);
  [[nodiscard]] CgroupFigures read() const;

 private:
  RereadFile cpu_stat_, memory_, peak_, events_, io_stat_, pids_;
  RereadFile cpu_pressure_, io_pressure_, memory_pressure_;
  RereadFile usage_v1_, user_v1_, system_v1_;
};

}  // namespace fathom
