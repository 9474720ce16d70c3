// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "base/proc_system.h"
#include "launch/cgroup.h"
#include "probe/resources/resources_probe.h"
#include "probe/resources/task_source.h"

namespace fathom {
namespace {

// Tries the real thing on ourselves and lets it go again.
Rung try_source(const char* name, Result<std::unique_ptr<TaskSource>> (*watch)(int64_t)) {
  Rung rung{name, Rung::State::kWorks, {}, {}};
  const auto source = watch(getpid());
  if (source.ok()) return rung;
  rung.state = Rung::State::kCannot;
  rung.why = source.error().message;
  rung.unlock = source.error().hint;
  return rung;
}

Rung try_cgroup() {
  Rung rung{
      "own cgroup: exact totals, memory with page cache, pressure", Rung::State::kWorks, {}, {}};
  auto cgroup = Cgroup::create("doctor");
  if (!cgroup.ok()) {
    rung.state = Rung::State::kCannot;
    rung.why = cgroup.error().message;
    rung.unlock = cgroup.error().hint;
    return rung;
  }
  const std::string unified = cgroup.value().unified();
  const bool memory =
      !cgroup.value().memory().empty() || access((unified + "/memory.current").c_str(), R_OK) == 0;
  cgroup.value().remove();
  if (!memory) {
    rung.state = Rung::State::kDegraded;
    rung.why = "the memory controller is not available to a new cgroup, so there is no cgroup peak";
    rung.unlock = "echo +memory > cgroup.subtree_control in the parent cgroup";
  }
  return rung;
}

Rung try_pressure() {
  Rung rung{"pressure (PSI) of the host", Rung::State::kWorks, {}, {}};
  if (const auto pressure = read_pressure("cpu"); !pressure.ok()) {
    rung.state = Rung::State::kCannot;
    rung.why = pressure.error().message;
    rung.unlock = "boot the kernel with psi=1";
  }
  return rung;
}

Rung try_host() {
  Rung rung{"host figures from /proc", Rung::State::kWorks, {}, {}};
  const auto stat = read_system_stat();
  const auto memory = read_meminfo();
  if (stat.ok() && memory.ok()) return rung;
  rung.state = Rung::State::kCannot;
  rung.why = stat.ok() ? memory.error().message : stat.error().message;
  rung.unlock = "mount -t proc proc /proc";
  return rung;
}

}  // namespace

std::vector<Rung> examine_resources() {
  return {
      try_source("bpf: every fork, exec and exit, exact figures at exit", watch_tasks_by_bpf),
      try_source("perf: every fork, exec and exit, exact CPU time at exit", watch_tasks_by_perf),
      try_source("proc: the tree by looking at intervals", watch_tasks_by_proc),
      try_cgroup(),
      try_pressure(),
      try_host(),
  };
}

}  // namespace fathom
