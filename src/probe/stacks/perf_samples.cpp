// SPDX-License-Identifier: Apache-2.0
// SampleSource by perf alone, for whoever may not load BPF programs. The size of a copy is fixed
// when an event is opened: so three are opened, of 8, 32 and 64 KB, and one is on.
#include <fmt/format.h>

#include <array>

#include "probe/event_rings.h"
#include "probe/stacks/copy_size.h"
#include "probe/stacks/perf_sample_record.h"
#include "probe/stacks/sample_events.h"

namespace fathom {
namespace {

// A sample is up to 64 KB: at 999 Hz 4 MB are 60 ms, and a busy machine keeps us waiting longer.
constexpr size_t kAllRingsBytes = size_t{32} << 20;
constexpr size_t kMostRingBytes = size_t{16} << 20, kUsualRingBytes = size_t{4} << 20;
constexpr size_t kLeastRingBytes = size_t{32} << 10;

class PerfSamples final : public SampleSource {
 public:
  static Result<std::unique_ptr<SampleSource>> make(const SampledScope& scope,
                                                    const Samplers& samplers);

  [[nodiscard]] std::string name() const override {
    return fmt::format("perf copies of the stack, now {} KB, by {}",
                       (CopySize::kBytes[step_] + 1023) >> 10, scope_);
  }
  void drain(SampleListener& listener, int64_t until_ns) override;
  void note(bool cut, uint64_t needed_bytes) override { wanted_.note(cut, needed_bytes); }
  [[nodiscard]] std::vector<int> wake_fds() const override { return rings_->wake_fds(); }
  [[nodiscard]] int64_t dropped() const override { return rings_->lost(); }
  [[nodiscard]] int64_t throttled() const override { return rings_->throttled(); }
  [[nodiscard]] int64_t counted(uint32_t sampler) const override;
  [[nodiscard]] int64_t buffer_bytes() const override { return rings_->mapped_bytes(); }
  [[nodiscard]] bool sees_kernel() const override { return events_.front().sees_kernel(); }

 private:
  const char* scope_ = "";
  std::unique_ptr<EventRings> rings_;
  std::array<SampleEvents, CopySize::kBytes.size()> events_;
  CopySize wanted_;
  size_t step_ = 0;
  std::vector<std::unique_ptr<TimedStream>> streams_;
  std::vector<TimedStream*> order_;
};

Result<std::unique_ptr<SampleSource>> PerfSamples::make(const SampledScope& scope,
                                                        const Samplers& samplers) {
  auto source = std::make_unique<PerfSamples>();
  source->scope_ = scope.name();
  TRY_ASSIGN(EventRings rings,
             EventRings::open(scope, ring_bytes_of(kAllRingsBytes, kUsualRingBytes, kMostRingBytes),
                              kLeastRingBytes));
  source->rings_ = std::make_unique<EventRings>(std::move(rings));
  for (size_t i = 0; i < source->events_.size(); ++i) {
    TRY(source->events_[i].open(
        scope, samplers, {.copy_bytes = CopySize::kBytes[i], .enabled = i == 0}, *source->rings_));
  }
  for (EventRings::Ring& ring : source->rings_->rings()) {
    source->streams_.push_back(make_ring_stream(*source->rings_, ring));
    source->order_.push_back(source->streams_.back().get());
  }
  return std::unique_ptr<SampleSource>(std::move(source));
}

void PerfSamples::drain(SampleListener& listener, int64_t until_ns) {
  merge_streams(order_, listener, until_ns);
  if (wanted_.step() == step_) return;
  events_[step_].enable(false);
  step_ = wanted_.step();
  events_[step_].enable(true);
}

int64_t PerfSamples::counted(uint32_t sampler) const {
  int64_t sum = 0;
  for (const SampleEvents& events : events_) sum += events.counted(sampler);
  return sum;
}

}  // namespace

Result<std::unique_ptr<SampleSource>> sample_by_perf(const SampledScope& scope,
                                                     const Samplers& samplers) {
  return PerfSamples::make(scope, samplers);
}

}  // namespace fathom
