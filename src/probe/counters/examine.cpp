// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "base/perf_event.h"
#include "base/privilege.h"
#include "probe/counters/counter_set.h"
#include "probe/counters/counters_probe.h"
#include "probe/counters/refusal.h"

namespace fathom {
namespace {

// Opens the real thing on ourselves and lets it go again.
Rung try_event(const char* title, const std::string& name) {
  Rung rung{title, Rung::State::kWorks, {}, {}};
  const auto what = find_perf_event(name);
  if (!what.ok()) {
    rung.state = Rung::State::kCannot;
    rung.why = what.error().message;
    rung.unlock = what.error().hint;
    return rung;
  }
  const CounterSet set = CounterSet::open({{name, what.value()}}, SampledScope::of_thread(getpid()),
                                          CounterSetOptions{});
  const CounterEvent& event = set.events().front();
  if (!event.fds.empty() && !event.user_only) return rung;
  rung.state = event.fds.empty() ? Rung::State::kCannot : Rung::State::kDegraded;
  rung.why = event.user_only ? "user mode only" : event.why;
  rung.unlock = unlock_hint("sysctl kernel.perf_event_paranoid=1", "PERFMON");
  if (is_hardware(what.value()) && event.fds.empty() && !has_pmu())
    rung.unlock = "let the hypervisor pass the PMU on, or simulate: fathom run --simulate";
  return rung;
}

}  // namespace

std::vector<Rung> examine_counters() {
  return {
      try_event("software events: faults, switches, clocks", "page-faults"),
      try_event("hardware events: cycles, instructions, caches, branches", "instructions"),
      try_event("tracepoints, such as syscalls:sys_enter_write", "syscalls:sys_enter_write"),
  };
}

}  // namespace fathom
