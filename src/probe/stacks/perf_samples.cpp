// SPDX-License-Identifier: Apache-2.0
// SampleSource by perf alone, for whoever may not load BPF programs. The size of a copy is fixed
// when an event is opened: so three are opened, of 8, 32 and 64 KB, and one is on, or a faster one
// while tasks start.
#include <fmt/format.h>

#include <array>

#include "base/clock.h"
#include "probe/event_rings.h"
#include "probe/stacks/copy_size.h"
#include "probe/stacks/perf_sample_record.h"
#include "probe/stacks/sample_events.h"
#include "probe/stacks/sample_thinner.h"

namespace fathom {
namespace {

// A sample is up to 64 KB: at 999 Hz 4 MB are 60 ms, and a busy machine keeps us waiting longer.
constexpr size_t kAllRingsBytes = size_t{32} << 20;
constexpr size_t kMostRingBytes = size_t{16} << 20, kUsualRingBytes = size_t{4} << 20;
constexpr size_t kLeastRingBytes = size_t{32} << 10;

// A period begins anew in each task that an event is inherited by: one that is shorter than a
// period is never sampled. While tasks start, faster events sample them.
constexpr int64_t kFastHz = 1000;
constexpr uint32_t kFastCopyBytes = 32 << 10;
constexpr int64_t kFastForNs = 300 * kNsPerMs;  // after the last start of a task

// How many times as fast.
int64_t fast_factor(const Sampler& sampler) {
  return sampler.rate_hz == 0 ? 1 : std::max<int64_t>(1, kFastHz / sampler.rate_hz);
}

class PerfSamples final : public SampleSource {
 public:
  static Result<std::unique_ptr<SampleSource>> make(const SampledScope& scope,
                                                    const Samplers& samplers);
  explicit PerfSamples(const std::vector<int64_t>& factors) : thinner_(factors) {}

  [[nodiscard]] std::string name() const override {
    return fmt::format("perf copies of the stack, now {} KB, by {}", (copy_bytes() + 1023) >> 10,
                       scope_);
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
  // Of events_: those of a size of copies, and after them the fast ones.
  static constexpr size_t kFast = CopySize::kBytes.size();

  void open_fast(const SampledScope& scope, const Samplers& samplers,
                 const std::vector<int64_t>& factors);
  void choose_events();
  [[nodiscard]] uint32_t copy_bytes() const {
    return on_ == kFast ? kFastCopyBytes : CopySize::kBytes[on_];
  }

  const char* scope_ = "";
  std::unique_ptr<EventRings> rings_;
  std::array<SampleEvents, CopySize::kBytes.size() + 1> events_;
  CopySize wanted_;
  SampleThinner thinner_;
  bool has_fast_ = false;
  int64_t started_ = 0, last_start_ns_ = 0;  // tasks
  size_t on_ = 0;                            // which of events_
  std::vector<std::unique_ptr<TimedStream>> streams_;
  std::vector<TimedStream*> order_;
};

Result<std::unique_ptr<SampleSource>> PerfSamples::make(const SampledScope& scope,
                                                        const Samplers& samplers) {
  std::vector<int64_t> factors;
  for (const Sampler& sampler : samplers) factors.push_back(fast_factor(sampler));
  auto source = std::make_unique<PerfSamples>(factors);
  source->scope_ = scope.name();
  TRY_ASSIGN(EventRings rings,
             EventRings::open(scope, ring_bytes_of(kAllRingsBytes, kUsualRingBytes, kMostRingBytes),
                              kLeastRingBytes));
  source->rings_ = std::make_unique<EventRings>(std::move(rings));
  for (size_t i = 0; i < kFast; ++i) {
    TRY(source->events_[i].open(
        scope, samplers, {.copy_bytes = CopySize::kBytes[i], .enabled = false}, *source->rings_));
  }
  if (scope.is_tree()) source->open_fast(scope, samplers, factors);
  source->last_start_ns_ = monotonic_ns();
  source->on_ = source->has_fast_ ? kFast : 0;
  source->events_[source->on_].enable(true);
  for (EventRings::Ring& ring : source->rings_->rings()) {
    source->streams_.push_back(make_ring_stream(*source->rings_, ring));
    source->order_.push_back(source->streams_.back().get());
  }
  return std::unique_ptr<SampleSource>(std::move(source));
}

// Where the kernel does not permit them, there are none.
void PerfSamples::open_fast(const SampledScope& scope, const Samplers& samplers,
                            const std::vector<int64_t>& factors) {
  Samplers fast = samplers;
  for (size_t i = 0; i < fast.size(); ++i) {
    fast[i].rate_hz *= factors[i];
    has_fast_ = has_fast_ || factors[i] > 1;
  }
  if (!has_fast_) return;
  const SampleEvents::How how = {.copy_bytes = kFastCopyBytes,
                                 .enabled = false,
                                 .first_number = static_cast<uint32_t>(samplers.size())};
  has_fast_ = events_[kFast].open(scope, fast, how, *rings_).ok() &&
              events_[kFast].sees_kernel() == sees_kernel();
  if (!has_fast_) events_[kFast] = {};
}

void PerfSamples::drain(SampleListener& listener, int64_t until_ns) {
  thinner_.aim_at(listener);
  merge_streams(order_, thinner_, until_ns);
  choose_events();
}

void PerfSamples::choose_events() {
  size_t choice = wanted_.step();
  if (has_fast_) {
    const int64_t now_ns = monotonic_ns();
    if (thinner_.started() != started_) last_start_ns_ = now_ns;
    started_ = thinner_.started();
    if (now_ns - last_start_ns_ < kFastForNs) choice = kFast;
  }
  if (choice == on_) return;
  events_[on_].enable(false);
  on_ = choice;
  events_[on_].enable(true);
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
