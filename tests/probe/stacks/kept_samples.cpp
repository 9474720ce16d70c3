// SPDX-License-Identifier: Apache-2.0
#include "probe/stacks/kept_samples.h"

#include <thread>

#include "base/clock.h"
#include "launch/process_launcher.h"
#include "support/folders.h"

namespace fathom::fixtures {
namespace {

constexpr int64_t kSettleNs = 5 * kNsPerMs;

bool has_ended(Target& target, SampledRun& run) {
  for (const Departure& gone : target.departures()) {
    if (!gone.is_main) continue;
    run.status = gone.status;
    return true;
  }
  return target.lost();
}

}  // namespace

SampledRun sample_program(OpenSource open, const std::vector<std::string>& command,
                          SampleListener& listener, const std::vector<int64_t>& rates_hz,
                          bool only_at_end) {
  setenv("FATHOM_HOME", build_folder().c_str(), 1);
  SampledRun run;
  LaunchRequest request;
  request.run_label = "test";
  request.command = command;
  auto target = launch_process(request);
  if (!target.ok()) return {.error = target.error().message};
  run.pid = target.value()->pid();
  Samplers samplers;
  for (const int64_t rate_hz : rates_hz)
    samplers.push_back({"cpu-clock", find_perf_event("cpu-clock").value(), rate_hz});
  auto source = open(SampledScope::of(*target.value()), samplers);
  if (!source.ok()) {
    target.value()->signal(SIGKILL);
    target.value()->finish();
    return {.error = source.error().message};
  }
  if (const Status started = target.value()->go(); !started.ok())
    return {.error = started.error().message};
  while (!has_ended(*target.value(), run)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    if (!only_at_end) source.value()->drain(listener, monotonic_ns() - kSettleNs);
  }
  target.value()->finish();
  source.value()->drain(listener, INT64_MAX);
  run.dropped = source.value()->dropped();
  run.counted = source.value()->counted(0);
  run.sees_kernel = source.value()->sees_kernel();
  return run;
}

std::string workload(const std::string& name) { return build_folder() + "/workloads/" + name; }

}  // namespace fathom::fixtures
