// SPDX-License-Identifier: Apache-2.0
#include "probe/io/call_stacks.h"

#include <fmt/format.h>

#include "base/text.h"
#include "probe/wire_sample.h"

namespace fathom {
namespace {

constexpr size_t kWakeParts = 4;

}  // namespace

// Calls of one CPU.
class CallStacks::Copies final : public TimedStream {
 public:
  Copies(BpfRing ring, CallStacks& to) : ring_(std::move(ring)), to_(to) {}

  void begin() override {}
  void end() override {}
  int64_t next_ns() override {
    record_ = ring_.peek();
    return record_.empty() ? INT64_MAX : static_cast<int64_t>(wire().sample.time_ns);
  }
  void deliver(SampleListener& /*listener*/) override {
    to_.take(wire());
    ring_.pop();
  }

 private:
  [[nodiscard]] const WireStackedCall& wire() const {
    return *reinterpret_cast<const WireStackedCall*>(record_.data());
  }

  BpfRing ring_;
  CallStacks& to_;
  std::span<const std::byte> record_;
};

CallStacks::CallStacks(EventRings changes, RecordStream& out, bool lines)
    : changes_(std::move(changes)), builder_(out.names(), stack_cache_folder(), lines) {
  for (EventRings::Ring& ring : changes_.rings())
    streams_.push_back(std::make_unique<ChangeStream>(changes_, ring));
  out.keep_ids([this](const Dictionary& /*from*/, Interner& /*to*/) { builder_.forget_ids(); });
}

Result<std::unique_ptr<CallStacks>> CallStacks::open(const Target& target, RecordStream& out,
                                                     bool lines) {
  TRY_ASSIGN(EventRings changes, EventRings::open(SampledScope::of(target), changes_ring_bytes(),
                                                  kLeastChangesRingBytes));
  std::unique_ptr<CallStacks> stacks(new CallStacks(std::move(changes), out, lines));
  if (target.scope().kind != Scope::Kind::kSystem)
    for (const int64_t pid : processes_in(target)) stacks->builder_.attach(pid, 0);
  return stacks;
}

Status CallStacks::place_rings(int rings) {
  TRY_ASSIGN(std::vector<BpfRing> made, rings_.make(rings, "fathom_callstk", "stacks of calls"));
  for (BpfRing& ring : made) streams_.push_back(std::make_unique<Copies>(std::move(ring), *this));
  for (const auto& stream : streams_) order_.push_back(stream.get());
  return {};
}

void CallStacks::drain(KernelRecords& records, int64_t until_ns) {
  records_ = &records;
  merge_streams(order_, *this, until_ns);
  records_ = nullptr;
}

void CallStacks::take(const WireStackedCall& call) {
  RawSample sample = raw_sample(call.sample);
  // Innermost are the program that looks, and what called it.
  for (size_t i = sample.kernel.size(); i-- > 0;) {
    if (!builder_.is_of_tracing(sample.kernel[i])) continue;
    sample.kernel = sample.kernel.subspan(i + 1);
    break;
  }
  const BuiltStack built = builder_.build(sample);
  ++stacks_;
  records_->take_stacked(call.call, built.stack, builder_.detail_of(built.end));
}

std::vector<int> CallStacks::wake_fds() const {
  std::vector<int> fds = changes_.wake_fds();
  for (const int ring : rings_.wake_fds()) fds.push_back(ring);
  return fds;
}

uint64_t CallStacks::wake_bytes() const { return rings_.ring_bytes() / kWakeParts; }

int64_t CallStacks::buffer_bytes() const {
  return changes_.mapped_bytes() + static_cast<int64_t>(rings_.all_bytes());
}

std::string CallStacks::missing() const {
  const int64_t whole = builder_.ended(StackEnd::kComplete) + builder_.ended(StackEnd::kJoined);
  std::string text;
  if (whole < stacks_)
    text = fmt::format("{} of {} stacks of calls are not complete", format_count(stacks_ - whole),
                       format_count(stacks_));
  if (lost() > 0)
    text += fmt::format("{}{} changes of what processes map were lost", text.empty() ? "" : "; ",
                        format_count(lost()));
  return text;
}

}  // namespace fathom
