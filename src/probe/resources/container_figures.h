// SPDX-License-Identifier: Apache-2.0
// Figures of one container among several: those of its own cgroup and network, as gauges of scope
// "container NAME". Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/reread.h"
#include "launch/launcher.h"
#include "probe/resources/cgroup_reader.h"
#include "probe/resources/gauge_writer.h"
#include "probe/resources/tree_poll.h"

namespace fathom {

// What containers send and receive, as their own network's devices count it, read from the host.
class ContainerNetwork {
 public:
  // The network of this process, unless it is the host's or known already.
  void watch(int64_t pid);
  void read();
  // As read last.
  void write(GaugeWriter& gauges) const;

 private:
  struct Known {
    RereadFile devices;
    std::string network;
    bool alone = false;  // no device but its own loopback
  };
  std::vector<Known> networks_;
  Maybe received_, sent_;
  int64_t reads_ = 0;
};

class ContainerFigures {
 public:
  explicit ContainerFigures(const TargetPart& part);
  // It is let go now: what was before is none of its doing.
  void begin();
  // Its first process has ended, so that the engine will remove its cgroup.
  void note_end(int64_t pid);
  // Where nobody has run nothing has changed, and nothing is written until somebody does; then the
  // old figures come first, so that what is new is not spread over the time before.
  void write(RecordStream& out, Stalls stalls, bool last);
  // The same of the I/O of its processes.
  void write_io(RecordStream& out, int64_t now_ns, const TreeFigures& io, bool last);
  [[nodiscard]] int64_t pid() const { return pid_; }

 private:
  void put_io(RecordStream& out, int64_t time_ns) const;
  void put(RecordStream& out, int64_t now_ns) const;

  std::string scope_, limits_;
  int64_t pid_ = 0;
  CgroupFigures figures_;
  Maybe disk_read_, disk_written_;
  int64_t io_ns_ = 0;                  // of the last reading; negative: it was not written
  Stalls stalls_;                      // since it was last read
  int64_t asleep_ns_ = 0, looks_ = 0;  // when it was last seen to sleep; 0: it has run since
  std::optional<CgroupReader> reader_;
  ContainerNetwork network_;
};

// CPU time and memory.
void write_often(GaugeWriter& gauges, const CgroupFigures& figures);
// All but the network.
void write_figures(GaugeWriter& gauges, const CgroupFigures& figures);

}  // namespace fathom
