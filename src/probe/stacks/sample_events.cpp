// SPDX-License-Identifier: Apache-2.0
#include "probe/stacks/sample_events.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "probe/stacks/perf_sample_record.h"
#include "symbol/unwind_arch.h"

namespace fathom {
namespace {

// Samples that may wait: the size of copies follows what they say.
constexpr uint32_t kSamplesPerWake = 8;

perf_event_attr sampling_attr(const SampleSettings& settings, uint32_t copy_bytes) {
  perf_event_attr attr = common_attr();
  attr.type = settings.what.attr.type;
  attr.config = settings.what.attr.config;
  attr.config1 = settings.what.attr.config1;
  attr.config2 = settings.what.attr.config2;
  attr.exclude_kernel = settings.what.attr.exclude_kernel;
  attr.exclude_user = settings.what.attr.exclude_user;
  attr.freq = settings.each ? 0 : 1;
  attr.sample_freq = settings.each ? 1 : static_cast<uint64_t>(settings.rate_hz);
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
    if (header.type == PERF_RECORD_SAMPLE)
      listener.on_sample(read_perf_sample(header, kernel_));
    else
      rings_.take(header, listener);
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

Status SampleEvents::open_all(const SampledScope& scope, const perf_event_attr& attr,
                              EventRings& rings) {
  fds_.clear();
  for (const EventRings::Ring& ring : rings.rings()) {
    TRY_ASSIGN(std::vector<Fd> events, scope.open(attr, ring.cpu));
    for (Fd& event : events) {
      TRY(EventRings::redirect(event.get(), ring));  // also for word of throttling
      fds_.push_back(std::move(event));
    }
  }
  return {};
}

Status SampleEvents::open(const SampledScope& scope, const SampleSettings& settings,
                          uint32_t copy_bytes, EventRings& rings, bool enabled) {
  perf_event_attr attr = sampling_attr(settings, copy_bytes);
  attr.disabled = enabled ? 0 : 1;
  sees_kernel_ = attr.exclude_kernel == 0;
  Status opened = open_all(scope, attr, rings);
  if (!opened.ok() && opened.error().code == Code::kPermission && sees_kernel_) {
    attr.exclude_kernel = 1;
    sees_kernel_ = false;
    opened = open_all(scope, attr, rings);
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
  for (const Fd& event : fds_)
    ioctl(event.get(), on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

int64_t SampleEvents::counted() const {
  int64_t sum = 0;
  for (const Fd& event : fds_) {
    uint64_t value = 0;
    if (read(event.get(), &value, sizeof value) == sizeof value) sum += static_cast<int64_t>(value);
  }
  return sum;
}

}  // namespace fathom
