// SPDX-License-Identifier: Apache-2.0
// Throttling of a cgroup by CPU limits: its own, those of the cgroups above it (Kubernetes limits
// the pod, Podman the cgroup above the processes) and, if they belong to the target, those below
// it. Counts since begin(), because the kernel counts since the birth of each cgroup. Not
// thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/reread.h"
#include "record/records.h"

namespace fathom {

struct Throttling {
  Maybe periods, throttled_periods, throttled_ns;
};

// The counters in the text of cpu.stat, of version 1 or 2. Absent: no CPU controller there.
Throttling parse_throttling(std::string_view cpu_stat);

class ThrottleReader {
 public:
  enum class Below { kIncluded, kExcluded };
  // `folder` has the cpu.stat of the cgroup; empty: there is none.
  explicit ThrottleReader(const std::string& folder, Below below = Below::kIncluded);
  // Counts begin now.
  void begin();
  // Of the level that was throttled most often. The last known counts of a cgroup that was removed
  // remain.
  Throttling read();

 private:
  struct Level {
    std::string folder;
    RereadFile cpu_stat;
    Throttling first, last;
  };
  void add_level(const std::string& folder, bool born_now);
  void find_below(bool born_now);
  void add_below(const std::string& folder, bool born_now);

  std::string folder_;
  Below below_;
  std::vector<Level> levels_;  // its own, above, below
};

}  // namespace fathom
