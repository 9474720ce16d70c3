// SPDX-License-Identifier: Apache-2.0
// The sampling events, one or more per CPU and sampler. Belongs to one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fd.h"
#include "probe/event_rings.h"
#include "probe/stacks/sample_source.h"

namespace fathom {

class SampleEvents {
 public:
  struct How {
    // The kernel writes samples with that much of the stack into the rings; 0: a BPF program takes
    // the samples.
    uint32_t copy_bytes = 0;
    bool enabled = true;
    // Samplers with a rate sample every task of each CPU, for a BPF program that selects those of
    // the scope. An event that tasks inherit begins a period in each, so that a task that is
    // shorter than a period would never be sampled.
    bool per_cpu = false;
    uint32_t first_number = 0;  // of the samplers, in the rings
  };
  // Where the kernel may not be sampled, user code only.
  Status open(const SampledScope& scope, const Samplers& samplers, const How& how,
              EventRings& rings);

  void enable(bool on) const;
  struct Event {
    Fd fd;
    uint32_t sampler = 0;
  };
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  [[nodiscard]] bool sees_kernel() const { return sees_kernel_; }
  // Of the scope.
  [[nodiscard]] int64_t counted(uint32_t sampler) const;

 private:
  Status open_samplers(const SampledScope& scope, const Samplers& samplers, const How& how,
                       EventRings& rings);
  Status open_all(const SampledScope& scope, const perf_event_attr& attr, uint32_t sampler,
                  uint32_t number, EventRings& rings);

  Status open_count(const SampledScope& scope, perf_event_attr attr, uint32_t sampler);

  std::vector<Event> events_;
  std::vector<Event> counts_;  // of the scope, where events are of all tasks
  bool per_cpu_ = false;
  bool sees_kernel_ = true;
};

// What a CPU's ring holds, as a stream: what tasks do, and samples where the kernel writes them.
std::unique_ptr<TimedStream> make_ring_stream(EventRings& rings, EventRings::Ring& ring);

}  // namespace fathom
