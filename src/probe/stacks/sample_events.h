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
  // With `copy_bytes` the kernel writes samples with so much of the stack into `rings`; without,
  // somebody else takes them (a BPF program). Where the kernel may not be sampled, user code only.
  Status open(const SampledScope& scope, const Samplers& samplers, uint32_t copy_bytes,
              EventRings& rings, bool enabled = true);

  void enable(bool on) const;
  struct Event {
    Fd fd;
    uint32_t sampler = 0;
  };
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  [[nodiscard]] bool sees_kernel() const { return sees_kernel_; }
  [[nodiscard]] int64_t counted(uint32_t sampler) const;

 private:
  Status open_samplers(const SampledScope& scope, const Samplers& samplers, uint32_t copy_bytes,
                       EventRings& rings, bool enabled);
  Status open_all(const SampledScope& scope, const perf_event_attr& attr, uint32_t sampler,
                  EventRings& rings);

  std::vector<Event> events_;
  bool sees_kernel_ = true;
};

// What a CPU's ring holds, as a stream: what tasks do, and samples where the kernel writes them.
std::unique_ptr<TimedStream> make_ring_stream(EventRings& rings, EventRings::Ring& ring);

}  // namespace fathom
