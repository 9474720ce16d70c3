// SPDX-License-Identifier: Apache-2.0
// Figures of the run's cgroup, in version 2 or version 1 form. Files are opened once. Belongs to
// one thread.
#pragma once

#include <optional>
#include <vector>

#include "base/fd.h"
#include "base/reread.h"
#include "launch/cgroup.h"
#include "record/records.h"

namespace fathom {

struct CgroupFigures {
  Maybe user_ns, system_ns, usage_ns, throttled_ns;
  Maybe periods, throttled_periods;  // of the CPU limit
  Maybe memory_bytes, peak_memory_bytes, oom_kills;
  Maybe working_set_bytes, swap_bytes;  // without page cache that can be dropped
  Maybe read_bytes, written_bytes, pids;
  Maybe cpu_pressure_ns, io_pressure_ns, memory_pressure_ns;  // time some task was held up
};

// Whether anybody on the host was held up since the last look: else nobody in a cgroup was.
struct Stalls {
  bool cpu = true, io = true, memory = true;
};

// Tells so, as the host's pressure says.
class StallReader {
 public:
  StallReader();
  [[nodiscard]] Stalls read();

 private:
  RereadFile cpu_, io_, memory_;
  Maybe cpu_ns_, io_ns_, memory_ns_;
};

class CgroupReader {
 public:
  explicit CgroupReader(const Cgroup& cgroup);
  [[nodiscard]] CgroupFigures read(const Stalls& stalls = {});
  // Whether anybody in it has run since the last call, as its CPU time says.
  [[nodiscard]] bool has_run();
  // The kernel's peak is from now on. read() still knows the largest before, unless it is to be
  // forgotten. False: this kernel, or this cgroup, cannot do that.
  bool restart_peak(bool forget);
  // Since restart_peak().
  [[nodiscard]] Maybe peak_now() const;

 private:
  // A container's own cgroup, which goes when it ends; what was read last stays.
  struct Limited {
    RereadFile cpu_stat, events;
    CgroupFigures last;
    int64_t reads = 0;
  };
  void read_cpu(CgroupFigures& figures) const;
  void read_memory(CgroupFigures& figures) const;
  void read_blocks(CgroupFigures& figures) const;
  void read_limited(CgroupFigures& figures);

  RereadFile cpu_stat_, memory_, peak_, events_, io_stat_, pids_;
  RereadFile cpu_pressure_, io_pressure_, memory_pressure_;
  RereadFile usage_v1_, user_v1_, system_v1_;
  RereadFile memory_stat_, swap_, blkio_v1_;
  std::vector<Limited> limited_;
  Fd peak_own_;  // open for writing: of a cgroup that is ours
  Maybe peak_before_, ran_;
  Maybe cpu_pressure_ns_, io_pressure_ns_, memory_pressure_ns_;
  std::optional<CgroupFigures> asked_;  // CPU time as has_run() read it, for read()
};

}  // namespace fathom
