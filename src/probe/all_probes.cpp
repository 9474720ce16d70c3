// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/text.h"
#include "probe/app/app_probe.h"
#include "probe/counters/counters_probe.h"
#include "probe/cuda/cuda_probe.h"
#include "probe/exec/exec_probe.h"
#include "probe/io/io_probe.h"
#include "probe/probe.h"
#include "probe/python/python_probe.h"
#include "probe/resources/resources_probe.h"
#include "probe/simulate/simulate_probe.h"
#include "probe/stacks/stacks_probe.h"

namespace fathom {
namespace {

constexpr std::array kProbes = {
    ProbeInfo{"resources",
              "CPU, memory, disk, network, pressure of the process tree, its cgroup and the host",
              true, make_resources_probe, examine_resources},
    ProbeInfo{"stacks",
              "where CPU time goes: sampled stacks, kernel and user, of any binary",
              false,
              make_stacks_probe,
              examine_stacks,
              {"freq", "event", "lines"}},
    ProbeInfo{
        "io",
        "what programs ask of the C library and the kernel: calls, bytes, times, errors per file",
        false,
        make_io_probe,
        examine_io,
        {"io", "malloc", "layers", "probe-set"}},
    ProbeInfo{"cuda",
              "what programs ask of the CUDA driver: launches, copies, memory, waits; GPU figures",
              false,
              make_cuda_probe,
              examine_cuda,
              {"sample-launches", "gpu-times", "gpu-queries", "gpu-stacks"}},
    ProbeInfo{"counters",
              "how often: cycles, cache misses, faults, switches, any tracepoint",
              false,
              make_counters_probe,
              examine_counters,
              {"counters", "per-thread"},
              true},
    ProbeInfo{"simulate",
              "instructions, cache and branch figures per function where there is no PMU",
              false,
              make_simulate_probe,
              examine_simulate,
              {"simulate"}},
    ProbeInfo{
        "python",
        "functions of Python programs: every call; python=sample or python=wall: samples by CPU or "
        "wall time",
        false,
        make_python_probe,
        examine_python,
        {}},
    ProbeInfo{"app", "what applications say of themselves: values over time, and marks", true,
              make_app_probe, examine_app},
    ProbeInfo{"exec",
              "figures that any program prints, line by line",
              false,
              make_exec_probe,
              examine_exec,
              {"exec"}},
};

}  // namespace

std::span<const ProbeInfo> all_probes() { return kProbes; }

int64_t longest_tick_ns(const std::vector<const ProbeInfo*>& probes) {
  const bool unhurried = std::all_of(probes.begin(), probes.end(),
                                     [](const ProbeInfo* probe) { return probe->unhurried; });
  return unhurried ? kUnhurriedTickNs : kUsualTickNs;
}

Result<const ProbeInfo*> find_probe(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ProbeInfo& probe : kProbes) {
    if (name == probe.name) return &probe;
    names.emplace_back(probe.name);
  }
  Error error{Code::kInvalid, "no probe is named " + std::string(name),
              "fathom doctor lists the probes"};
  if (const auto near = closest_match(name, names))
    error.hint = "did you mean " + std::string(*near) + "?";
  return error;
}

}  // namespace fathom
