// SPDX-License-Identifier: Apache-2.0
// CPU time core by core: the cgroup's own where the kernel tells it (version 1), else that of all
// who run on the host. Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/reread.h"
#include "launch/cgroup.h"
#include "sink/record_stream.h"

namespace fathom {

class CoreReader {
 public:
  explicit CoreReader(const Cgroup* cgroup);
  // Gauges cpuN_total, of scope cgroup or host.
  void write(RecordStream& out, int64_t now_ns) const;

 private:
  RereadFile percpu_, stat_;
};

// The busy time of each core in the text of /proc/stat.
std::vector<int64_t> parse_core_times(std::string_view stat, int64_t ticks_per_s);

}  // namespace fathom
