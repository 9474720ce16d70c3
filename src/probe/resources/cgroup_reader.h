// SPDX-License-Identifier: Apache-2.0
// Counters of the run's cgroup, in version 2 or version 1 form. Files are opened once. Not
// thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "base/fd.h"
#include "base/reread.h"
#include "launch/cgroup.h"
#include "probe/resources/throttle_reader.h"
#include "record/records.h"

namespace fathom {

struct CgroupFigures {
  int64_t time_ns = 0;  // when the CPU time was read
  Maybe user_ns, system_ns, usage_ns, throttled_ns;
  Maybe periods, throttled_periods;  // of the CPU limit
  Maybe memory_bytes, oom_kills;
  Maybe working_set_bytes, swap_bytes;               // without page cache that can be dropped
  Maybe anonymous_bytes, shared_bytes, cache_bytes;  // tmpfs is shared memory, not cache
  // The kernel's peaks: since begin(), where it counts so or has exceeded what was before; since
  // the last reading, where it counts so; since the birth of the cgroup, where that is before
  // begin().
  Maybe peak_memory_bytes, interval_peak_bytes, lifetime_peak_bytes;
  Maybe at_limit;    // version 1: 1 if no further page could be charged
  Maybe limit_hits;  // how often a charge reached the memory limit, so that memory was reclaimed
  Maybe read_bytes, written_bytes, pids;                      // by devices; written: version 2 only
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
  // What was before is not counted: throttling, OOM kills, hits of the limit, and the peak.
  void begin();
  [[nodiscard]] CgroupFigures read(const Stalls& stalls = {});
  // CPU time and memory only.
  [[nodiscard]] CgroupFigures read_often();
  // What ends with the container's own cgroup, read before the engine removes it.
  void note_end();
  // Whether anybody in it has run since the last call, as its CPU time says.
  [[nodiscard]] bool has_run();
  // When has_run() read its CPU time.
  [[nodiscard]] int64_t cpu_time_ns() const { return asked_ ? asked_->time_ns : 0; }
  // The peak of a step, from begin_step() on. Absent: this kernel, or this cgroup, cannot tell.
  void begin_step();
  [[nodiscard]] Maybe step_peak();

 private:
  // A container's own cgroup, which goes when it ends; what was read last stays.
  struct Limited {
    ThrottleReader throttle;
    RereadFile events;
    Maybe oom_kills, first_oom_kills;
  };
  void read_cpu(CgroupFigures& figures) const;
  void read_memory(CgroupFigures& figures);
  void read_peak(CgroupFigures& figures);
  [[nodiscard]] Maybe take_interval_peak();
  void read_blocks(CgroupFigures& figures) const;
  void read_limited(CgroupFigures& figures);
  [[nodiscard]] Maybe oom_kills() const;
  [[nodiscard]] Maybe limit_hits() const;
  [[nodiscard]] Maybe at_limit();

  RereadFile cpu_stat_, memory_, peak_, events_, hits_, hits_swap_, io_stat_, pids_;
  RereadFile cpu_pressure_, io_pressure_, memory_pressure_;
  RereadFile usage_v1_, user_v1_, system_v1_;
  RereadFile memory_stat_, swap_, blkio_v1_;
  std::vector<Limited> limited_;
  Fd peak_own_;  // a descriptor whose peak can be reset without an effect on other readers
  RereadFile own_usage_, own_peak_, own_limit_;  // version 1: of the container's own cgroup
  RereadFile peak_above_;  // of the cgroup above, which a process of the engine shares
  bool ours_ = false, end_noted_ = false;
  Maybe peak_first_, peak_before_, step_peak_, step_first_, ran_, first_oom_kills_, first_hits_,
      own_peak_last_;
  CgroupFigures memory_last_;
  Maybe cpu_pressure_ns_, io_pressure_ns_, memory_pressure_ns_;
  std::optional<CgroupFigures> asked_;  // CPU time as has_run() read it, for read()
};

}  // namespace fathom
