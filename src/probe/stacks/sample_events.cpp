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

perf_event_attr sampling_attr(const SampleSettings& settings, uint32_t rate, uint32_t copy_bytes) {
  perf_event_attr attr = common_attr();
  attr.type = settings.what.attr.type;
  attr.config = settings.what.attr.config;
  attr.config1 = settings.what.attr.config1;
  attr.config2 = settings.what.attr.config2;
  attr.exclude_kernel = settings.what.attr.exclude_kernel;
  attr.exclude_user = settings.what.attr.exclude_user;
  attr.freq = settings.each ? 0 : 1;
  attr.sample_freq = settings.each ? 1 : static_cast<uint64_t>(settings.rates_hz[rate]);
  attr.sample_type |= PERF_SAMPLE_PERIOD;
  if (copy_bytes == 0) return attr;
  attr.sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.exclude_callchain_user = 1;
  attr.sample_regs_user = unwind_arch::kPerfMask;
  attr.sample_stack_user = copy_bytes;
  attr.wakeup_events = kSamplesPerWake;
  return attr;
}

class RingStream final : public TimedStream {
 public:
  RingStream(EventRings& rings, EventRings::Ring& ring) : rings_(rings), ring_(ring.ring) {}

  void begin() override { ring_.begin(); }
  void end() override { ring_.end(); }
  int64_t next_ns() override {
    const perf_event_header* header = ring_.peek();
    return header == nullptr ? INT64_MAX : record_time_ns(*header);
  }
  void deliver(SampleListener& listener) override {
    const perf_event_header& header = *ring_.peek();
    if (header.type == PERF_RECORD_SAMPLE) {
      RawSample sample = read_perf_sample(header, kernel_);
      sample.rate = rings_.rate_of(header);
      listener.on_sample(sample);
    } else {
      rings_.take(header, listener);
    }
    ring_.pop();
  }

 private:
  EventRings& rings_;
  PerfRing& ring_;
  std::vector<uint64_t> kernel_;  // frames of the last sample
};

}  // namespace

std::unique_ptr<TimedStream> make_ring_stream(EventRings& rings, EventRings::Ring& ring) {
  return std::make_unique<RingStream>(rings, ring);
}

Status SampleEvents::open_all(const SampledScope& scope, const perf_event_attr& attr, uint32_t rate,
                              EventRings& rings) {
  for (const EventRings::Ring& ring : rings.rings()) {
    TRY_ASSIGN(std::vector<Fd> events, scope.open(attr, ring.cpu));
    for (Fd& event : events) {
      TRY(EventRings::redirect(event.get(), ring));  // also for word of throttling
      rings.add_event(event.get(), rate);
      events_.push_back({std::move(event), rate});
    }
  }
  return {};
}

Status SampleEvents::open(const SampledScope& scope, const SampleSettings& settings,
                          uint32_t copy_bytes, EventRings& rings, bool enabled) {
  const auto open_rates = [&]() -> Status {
    events_.clear();
    for (uint32_t rate = 0; rate < std::max<size_t>(1, settings.rates_hz.size()); ++rate) {
      perf_event_attr attr = sampling_attr(settings, rate, copy_bytes);
      attr.disabled = enabled ? 0 : 1;
      if (!sees_kernel_) attr.exclude_kernel = 1;
      TRY(open_all(scope, attr, rate, rings));
    }
    return {};
  };
  sees_kernel_ = settings.what.attr.exclude_kernel == 0;
  Status opened = open_rates();
  if (!opened.ok() && opened.error().code == Code::kPermission && sees_kernel_) {
    sees_kernel_ = false;
    opened = open_rates();
  }
  if (!opened.ok() && opened.error().code == Code::kUnsupported) {
    return std::move(opened)
        .error()
        .within("sample " + settings.event)
        .with_hint(
            "this machine has no such counter (a virtual machine often has none); "
            "--event cpu-clock works everywhere");
  }
  return opened;
}

void SampleEvents::enable(bool on) const {
  for (const Event& event : events_)
    ioctl(event.fd.get(), on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

int64_t SampleEvents::counted() const {
  int64_t sum = 0;
  for (const Event& event : events_) {
    uint64_t value = 0;
    if (event.rate != 0) continue;  // they all count the same
    if (read(event.fd.get(), &value, sizeof value) == sizeof value)
      sum += static_cast<int64_t>(value);
  }
  return sum;
}

}  // namespace fathom
