// SPDX-License-Identifier: Apache-2.0
#include "probe/stacks/sample_events.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "probe/stacks/perf_sample_record.h"
#include "symbol/unwind_arch.h"

namespace fathom {
namespace {

// Samples that may wait: the size of copies follows what they say.
constexpr uint32_t kSamplesPerWake = 8;

perf_event_attr sampling_attr(const Sampler& sampler, uint32_t copy_bytes) {
  perf_event_attr attr = common_attr();
  attr.type = sampler.what.attr.type;
  attr.config = sampler.what.attr.config;
  attr.config1 = sampler.what.attr.config1;
  attr.config2 = sampler.what.attr.config2;
  attr.exclude_kernel = sampler.what.attr.exclude_kernel;
  attr.exclude_user = sampler.what.attr.exclude_user;
  attr.freq = sampler.rate_hz == 0 ? 0 : 1;
  attr.sample_freq = sampler.rate_hz == 0 ? 1 : static_cast<uint64_t>(sampler.rate_hz);
  attr.sample_type |= PERF_SAMPLE_PERIOD;
  if (copy_bytes == 0) return attr;
  attr.sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.exclude_callchain_user = 1;
  attr.sample_regs_user = unwind_arch::kPerfMask;
  attr.sample_stack_user = copy_bytes;
  attr.wakeup_events = kSamplesPerWake;
  return attr;
}

class RingStream final : public ChangeStream {
 public:
  using ChangeStream::ChangeStream;

  void deliver(SampleListener& listener) override {
    const perf_event_header& header = *ring_.peek();
    if (header.type != PERF_RECORD_SAMPLE) return ChangeStream::deliver(listener);
    RawSample sample = read_perf_sample(header, kernel_);
    sample.sampler = rings_.sampler_of(header);
    listener.on_sample(sample);
    ring_.pop();
  }

 private:
  std::vector<uint64_t> kernel_;  // frames of the last sample
};

}  // namespace

std::unique_ptr<TimedStream> make_ring_stream(EventRings& rings, EventRings::Ring& ring) {
  return std::make_unique<RingStream>(rings, ring);
}

Status SampleEvents::open_all(const SampledScope& scope, const perf_event_attr& attr,
                              uint32_t sampler, uint32_t number, EventRings& rings) {
  for (const EventRings::Ring& ring : rings.rings()) {
    TRY_ASSIGN(std::vector<Fd> events, scope.open(attr, ring.cpu));
    for (Fd& event : events) {
      TRY(EventRings::redirect(event.get(), ring));  // also for word of throttling
      rings.add_event(event.get(), number);
      events_.push_back({std::move(event), sampler});
    }
  }
  return {};
}

// What tasks of the scope use, without samples.
Status SampleEvents::open_count(const SampledScope& scope, perf_event_attr attr, uint32_t sampler) {
  constexpr int kAnyCpu = -1;
  attr.freq = 0;
  attr.sample_freq = 0;
  TRY_ASSIGN(std::vector<Fd> events, scope.open(attr, kAnyCpu));
  for (Fd& event : events) counts_.push_back({std::move(event), sampler});
  return {};
}

Status SampleEvents::open_samplers(const SampledScope& scope, const Samplers& samplers,
                                   const How& how, EventRings& rings) {
  events_.clear();
  counts_.clear();
  const SampledScope all_tasks;
  for (uint32_t i = 0; i < samplers.size(); ++i) {
    perf_event_attr attr = sampling_attr(samplers[i], how.copy_bytes);
    attr.disabled = how.enabled ? 0 : 1;
    if (!sees_kernel_) attr.exclude_kernel = 1;
    const bool per_cpu = how.per_cpu && samplers[i].rate_hz != 0;
    Status opened = open_all(per_cpu ? all_tasks : scope, attr, i, how.first_number + i, rings);
    if (opened.ok() && per_cpu) opened = open_count(scope, attr, i);
    if (opened.ok()) continue;
    if (opened.error().code != Code::kUnsupported) return opened;
    return std::move(opened)
        .error()
        .within("sample " + samplers[i].event)
        .with_hint(
            "this machine has no such counter (a virtual machine often has none); "
            "--event cpu-clock works everywhere");
  }
  return {};
}

Status SampleEvents::open(const SampledScope& scope, const Samplers& samplers, const How& how,
                          EventRings& rings) {
  per_cpu_ = how.per_cpu;
  sees_kernel_ = std::any_of(samplers.begin(), samplers.end(), [](const Sampler& sampler) {
    return sampler.what.attr.exclude_kernel == 0;
  });
  Status opened = open_samplers(scope, samplers, how, rings);
  if (opened.ok() || opened.error().code != Code::kPermission || !sees_kernel_) return opened;
  sees_kernel_ = false;
  return open_samplers(scope, samplers, how, rings);
}

void SampleEvents::enable(bool on) const {
  for (const Event& event : events_)
    ioctl(event.fd.get(), on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

int64_t SampleEvents::counted(uint32_t sampler) const {
  int64_t sum = 0;
  for (const Event& event : per_cpu_ ? counts_ : events_) {
    uint64_t value = 0;
    if (event.sampler == sampler && read(event.fd.get(), &value, sizeof value) == sizeof value)
      sum += static_cast<int64_t>(value);
  }
  return sum;
}

}  // namespace fathom
