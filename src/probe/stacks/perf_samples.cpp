// SPDX-License-Identifier: Apache-2.0
// SampleSource by perf alone, for whoever may not load BPF programs. The size of a copy is fixed
// when an event is opened: so three are opened, of 8, 32 and 64 KB, and one is on.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "probe/stacks/copy_size.h"
#include "probe/stacks/event_rings.h"
#include "probe/stacks/sample_events.h"
#include "symbol/unwind_arch.h"

namespace fathom {
namespace {

constexpr size_t kRingBytes = size_t{4} << 20;
constexpr size_t kLeastRingBytes = size_t{32} << 10;
constexpr uint64_t kFirstMarker = static_cast<uint64_t>(-4095);  // PERF_CONTEXT_MAX

// Walks over the fields of a sample. Past the end everything is 0.
class Fields {
 public:
  explicit Fields(const perf_event_header& header)
      : at_(reinterpret_cast<const char*>(&header) + sizeof(header)),
        end_(reinterpret_cast<const char*>(&header) + header.size) {}

  uint64_t word() {
    uint64_t value = 0;
    if (const auto bytes = take(sizeof value); !bytes.empty())
      std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::span<const uint64_t> words(uint64_t count) {
    if (count > left() / 8) return {};
    const auto bytes = take(count * 8);
    return {reinterpret_cast<const uint64_t*>(bytes.data()), count};
  }
  std::span<const uint8_t> take(uint64_t size) {
    if (size > left()) {
      at_ = end_;
      return {};
    }
    const auto* bytes = reinterpret_cast<const uint8_t*>(at_);
    at_ += size;
    return {bytes, size};
  }

 private:
  [[nodiscard]] size_t left() const { return static_cast<size_t>(end_ - at_); }
  const char* at_;
  const char* end_;
};

// In the order of the sample_type bits in sample_events.cpp.
RawSample read_sample(const perf_event_header& header, std::vector<uint64_t>& kernel) {
  Fields fields(header);
  RawSample sample;
  fields.word();  // identifier
  const uint64_t ids = fields.word();
  sample.pid = static_cast<uint32_t>(ids);
  sample.tid = static_cast<int64_t>(ids >> 32);
  sample.time_ns = static_cast<int64_t>(fields.word());
  sample.cpu = static_cast<uint32_t>(fields.word());
  sample.weight = static_cast<int64_t>(fields.word());
  kernel.clear();
  for (const uint64_t address : fields.words(fields.word()))
    if (address < kFirstMarker) kernel.push_back(address);
  sample.kernel = kernel;
  const uint64_t abi = fields.word();
  if (abi == PERF_SAMPLE_REGS_ABI_NONE) return sample;
  const auto registers = fields.words(std::popcount(unwind_arch::kPerfMask));
  sample.registers = registers_from_perf(unwind_arch::kPerfMask, registers);
  const auto bytes = fields.take(fields.word());
  const uint64_t copied = bytes.empty() ? 0 : std::min<uint64_t>(fields.word(), bytes.size());
  sample.user = abi == PERF_SAMPLE_REGS_ABI_64 ? RawSample::User::kCopied : RawSample::User::k32Bit;
  sample.copy = {sample.registers.sp(), bytes.first(copied)};
  return sample;
}

class PerfSamples final : public SampleSource {
 public:
  static Result<std::unique_ptr<SampleSource>> make(const SampledScope& scope,
                                                    const SampleSettings& settings);

  [[nodiscard]] std::string name() const override {
    return fmt::format("perf copies of the stack, now {} KB, by {}",
                       (CopySize::kBytes[step_] + 1023) >> 10, scope_);
  }
  void drain(SampleListener& listener, int64_t until_ns) override;
  void note(bool cut, uint64_t needed_bytes) override { wanted_.note(cut, needed_bytes); }
  [[nodiscard]] std::vector<int> wake_fds() const override { return rings_->wake_fds(); }
  [[nodiscard]] int64_t dropped() const override { return rings_->lost(); }
  [[nodiscard]] int64_t throttled() const override { return rings_->throttled(); }
  [[nodiscard]] int64_t counted() const override;
  [[nodiscard]] int64_t buffer_bytes() const override { return rings_->mapped_bytes(); }
  [[nodiscard]] bool sees_kernel() const override { return events_.front().sees_kernel(); }

 private:
  class Stream;

  const char* scope_ = "";
  std::unique_ptr<EventRings> rings_;
  std::array<SampleEvents, CopySize::kBytes.size()> events_;
  CopySize wanted_;
  size_t step_ = 0;
  std::vector<std::unique_ptr<TimedStream>> streams_;
  std::vector<TimedStream*> order_;
};

class PerfSamples::Stream final : public TimedStream {
 public:
  Stream(PerfSamples& owner, EventRings::Ring& ring) : owner_(owner), ring_(ring.ring) {}

  void begin() override { ring_.begin(); }
  void end() override { ring_.end(); }
  int64_t next_ns() override {
    const perf_event_header* header = ring_.peek();
    return header == nullptr ? INT64_MAX : record_time_ns(*header);
  }
  void deliver(SampleListener& listener) override {
    const perf_event_header& header = *ring_.peek();
    if (header.type == PERF_RECORD_SAMPLE) {
      listener.on_sample(read_sample(header, kernel_));
    } else {
      owner_.rings_->take(header, listener);
    }
    ring_.pop();
  }

 private:
  PerfSamples& owner_;
  PerfRing& ring_;
  std::vector<uint64_t> kernel_;
};

Result<std::unique_ptr<SampleSource>> PerfSamples::make(const SampledScope& scope,
                                                        const SampleSettings& settings) {
  auto source = std::make_unique<PerfSamples>();
  source->scope_ = scope.name();
  TRY_ASSIGN(EventRings rings, EventRings::open(scope, kRingBytes, kLeastRingBytes));
  source->rings_ = std::make_unique<EventRings>(std::move(rings));
  for (size_t i = 0; i < source->events_.size(); ++i) {
    TRY(source->events_[i].open(scope, settings, CopySize::kBytes[i], *source->rings_, i == 0));
  }
  for (EventRings::Ring& ring : source->rings_->rings()) {
    source->streams_.push_back(std::make_unique<Stream>(*source, ring));
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

int64_t PerfSamples::counted() const {
  int64_t sum = 0;
  for (const SampleEvents& events : events_) sum += events.counted();
  return sum;
}

}  // namespace

Result<std::unique_ptr<SampleSource>> sample_by_perf(const SampledScope& scope,
                                                     const SampleSettings& settings) {
  return PerfSamples::make(scope, settings);
}

}  // namespace fathom
