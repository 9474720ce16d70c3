// SPDX-License-Identifier: Apache-2.0
// Whom events are opened for: the target's cgroup where it has one and we may (an event per CPU,
// nothing to copy at a fork), else every thread of its tree with what they will start, else all.
// Belongs to the recorder's thread.
#pragma once

#include <vector>

#include "base/fd.h"
#include "base/perf_event.h"
#include "launch/launcher.h"

namespace fathom {

// The first arguments of perf_event_open for one event.
struct PerfPlace {
  pid_t pid = -1;  // a thread, an open cgroup, or -1 for all
  unsigned long flags = 0;
};

class SampledScope {
 public:
  static SampledScope of(const Target& target);
  // Its threads and what they start, also where it has a cgroup.
  static SampledScope of_tasks(const Target& target);
  static SampledScope of_thread(int64_t tid);

  // On one CPU: as many events as there are threads to begin with, or one. Threads that ended
  // meanwhile are left out.
  Result<std::vector<Fd>> open(perf_event_attr attr, int cpu) const;
  // Where an event goes; valid as long as this.
  [[nodiscard]] std::vector<PerfPlace> places() const;
  // Those of a tree that run now; valid as long as the target that this was made of.
  [[nodiscard]] std::vector<int64_t> processes() const;
  // Whether places are threads, whose events go to what they start, and not CPUs.
  [[nodiscard]] bool is_tree() const { return !cgroup_.valid() && !threads_.empty(); }
  [[nodiscard]] const char* name() const;

 private:
  Fd cgroup_;
  std::vector<int64_t> threads_;    // empty: all
  const Target* target_ = nullptr;  // of its threads; nullptr: those of a single process
};

}  // namespace fathom
