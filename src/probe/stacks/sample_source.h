// SPDX-License-Identifier: Apache-2.0
// Where samples come from: perf_event timers and counters, with the user stack copied by a BPF
// program (as much as there is; needs root) or by perf itself (at most 64 KB). Both also tell what
// processes map, fork, exec and exit, in one order of time with the samples, so that a listener
// always knows the address space a sample was taken in. A source belongs to one thread and delivers
// only when drained.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/perf_event_name.h"
#include "base/result.h"
#include "probe/raw_sample.h"
#include "probe/sampled_scope.h"

namespace fathom {

// One of the reasons to take a sample: an event, at a rate.
struct Sampler {
  std::string event;  // its name
  PerfEventName what;
  int64_t rate_hz = 0;  // 0: every event is a sample
};
using Samplers = std::vector<Sampler>;  // at once; kWireMostSamplers at most

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  // Delivers what happened before `until_ns`, in order of time.
  virtual void drain(SampleListener& listener, int64_t until_ns) = 0;
  // How the last sample came out, so that the next copies are as long as needed.
  virtual void note(bool /*cut*/, uint64_t /*needed_bytes*/) {}
  // Readable when much is waiting.
  [[nodiscard]] virtual std::vector<int> wake_fds() const = 0;

  // Descriptors of its BPF programs.
  [[nodiscard]] virtual std::vector<int> bpf_programs() const { return {}; }
  [[nodiscard]] virtual int64_t dropped() const = 0;  // samples and changes known to be lost
  // What dropped samples of a sampler stood for, in the event's unit, and no later sample stands
  // for instead.
  [[nodiscard]] virtual int64_t owed(uint32_t /*sampler*/) const { return 0; }
  [[nodiscard]] virtual int64_t throttled() const = 0;
  [[nodiscard]] virtual int64_t counted(uint32_t sampler) const = 0;  // in the event's unit, so far
  [[nodiscard]] virtual int64_t buffer_bytes() const = 0;
  [[nodiscard]] virtual bool sees_kernel() const = 0;
};

// The programs and rings of sample_by_bpf. Movable to another thread.
class LoadedSampler {
 public:
  virtual ~LoadedSampler() = default;
};

// For a scope that is no tree, before it is known.
Result<std::unique_ptr<LoadedSampler>> load_bpf_sampler();
Result<std::unique_ptr<SampleSource>> sample_by_bpf(const SampledScope& scope,
                                                    const Samplers& samplers);
// The same with what was loaded; nullptr or for a tree: with its own.
Result<std::unique_ptr<SampleSource>> sample_by_loaded_bpf(const SampledScope& scope,
                                                           const Samplers& samplers,
                                                           std::unique_ptr<LoadedSampler> loaded);
Result<std::unique_ptr<SampleSource>> sample_by_perf(const SampledScope& scope,
                                                     const Samplers& samplers);

}  // namespace fathom
