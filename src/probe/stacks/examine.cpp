// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "base/privilege.h"
#include "probe/stacks/sample_source.h"
#include "probe/stacks/stacks_probe.h"
#include "symbol/kernel_symbols.h"

namespace fathom {
namespace {

using Sample = Result<std::unique_ptr<SampleSource>> (*)(const SampledScope&, const Samplers&);

Rung failed(Rung rung, const Error& error) {
  rung.state = Rung::State::kCannot;
  rung.why = error.message;
  rung.unlock = error.hint;
  return rung;
}

// Tries the real thing on ourselves and lets it go again.
Rung try_source(const char* name, const char* event, Sample sample) {
  Rung rung{name, Rung::State::kWorks, {}, {}};
  auto what = find_perf_event(event);
  if (!what.ok()) return failed(std::move(rung), what.error());
  const Samplers samplers{{event, what.value(), 99}};
  const auto source = sample(SampledScope::of_thread(getpid()), samplers);
  if (!source.ok()) return failed(std::move(rung), source.error());
  if (source.value()->sees_kernel()) return rung;
  rung.state = Rung::State::kDegraded;
  rung.why = "time in the kernel is not sampled";
  rung.unlock = unlock_hint("sysctl kernel.perf_event_paranoid=1", "PERFMON");
  return rung;
}

Rung try_kernel_names() {
  Rung rung{"names of kernel functions", Rung::State::kWorks, {}, {}};
  const auto symbols = KernelSymbols::load();
  return symbols.ok() ? rung : failed(std::move(rung), symbols.error());
}

}  // namespace

std::vector<Rung> examine_stacks() {
  return {
      try_source("bpf: stacks of up to 256 KB, copied as long as they are", "cpu-clock",
                 sample_by_bpf),
      try_source("perf: stacks of up to 64 KB, also of one's own processes", "cpu-clock",
                 sample_by_perf),
      try_source("hardware counters, such as --event cycles", "cycles", sample_by_perf),
      try_kernel_names(),
  };
}

}  // namespace fathom
