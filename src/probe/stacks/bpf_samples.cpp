// SPDX-License-Identifier: Apache-2.0
// SampleSource with the copying done by a BPF program (stacks.bpf.c; what they share is
// wire/stacks.h): as much stack as there is, up to 256 KB, into a ring per CPU that wakes nobody
// until it is half full. Needs root, or CAP_BPF and CAP_PERFMON.
#include <bpf/bpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <unordered_set>

#include "base/bpf.h"
#include "base/bpf_ring.h"
#include "probe/event_rings.h"
#include "probe/stacks/sample_events.h"
#include "probe/stacks/stacks_loader.h"
#include "probe/wire_sample.h"
#include "wire/stacks.h"

namespace fathom {
namespace {

constexpr size_t kAllRingsBytes = size_t{16} << 20;
constexpr size_t kMostRingBytes = size_t{4} << 20;
constexpr size_t kLeastRingBytes = size_t{1} << 20;
constexpr size_t kMinTreeCapacity = 1024;  // processes that may start while the tree is listed

// Samples of one CPU.
class CopyStream final : public TimedStream {
 public:
  explicit CopyStream(BpfRing ring) : ring_(std::move(ring)) {}

  void begin() override {}
  void end() override {}
  int64_t next_ns() override {
    record_ = ring_.peek();
    return record_.empty() ? INT64_MAX : static_cast<int64_t>(wire().time_ns);
  }
  void deliver(SampleListener& listener) override {
    listener.on_sample(raw_sample(wire()));
    ring_.pop();
  }

 private:
  [[nodiscard]] const WireSample& wire() const {
    return *reinterpret_cast<const WireSample*>(record_.data());
  }

  BpfRing ring_;
  std::span<const std::byte> record_;
};

class BpfSamples final : public SampleSource {
 public:
  static Result<std::unique_ptr<SampleSource>> make(const SampledScope& scope,
                                                    const Samplers& samplers);

  BpfSamples() = default;
  ~BpfSamples() override {
    links_.clear();
    if (programs_.skeleton != nullptr) close_stack_programs(&programs_);
  }
  BpfSamples(const BpfSamples&) = delete;
  BpfSamples& operator=(const BpfSamples&) = delete;

  [[nodiscard]] std::string name() const override {
    return fmt::format("bpf copies of the stack, by {}", scope_);
  }
  void drain(SampleListener& listener, int64_t until_ns) override {
    merge_streams(order_, listener, until_ns);
  }
  [[nodiscard]] std::vector<int> wake_fds() const override {
    std::vector<int> fds = changes_->wake_fds();
    for (const Fd& ring : copy_rings_) fds.push_back(ring.get());
    return fds;
  }
  [[nodiscard]] int64_t dropped() const override {
    return static_cast<int64_t>(*programs_.dropped + *programs_.not_followed) + changes_->lost();
  }
  [[nodiscard]] int64_t owed(uint32_t sampler) const override {
    int64_t sum = 0;
    for (const EventRings::Ring& ring : changes_->rings()) {
      const size_t cpu = static_cast<size_t>(ring.cpu) % kWireMostCpus;
      sum += static_cast<int64_t>(programs_.owed[cpu * kWireMostSamplers + sampler]);
    }
    return sum;
  }
  [[nodiscard]] int64_t throttled() const override { return changes_->throttled(); }
  [[nodiscard]] int64_t counted(uint32_t sampler) const override {
    return events_.counted(sampler);
  }
  [[nodiscard]] int64_t buffer_bytes() const override {
    return changes_->mapped_bytes() + static_cast<int64_t>(copy_rings_.size() * ring_bytes_);
  }
  [[nodiscard]] bool sees_kernel() const override { return events_.sees_kernel(); }

 private:
  Status load(const SampledScope& scope);
  Status follow_tree(const SampledScope& scope);
  Status add_ring(int cpu);
  Status attach();

  const char* scope_ = "";
  StackPrograms programs_{};
  std::unique_ptr<EventRings> changes_;
  SampleEvents events_;
  size_t ring_bytes_ = 0;
  std::vector<Fd> copy_rings_;
  std::vector<std::unique_ptr<TimedStream>> streams_;
  std::vector<TimedStream*> order_;
  std::vector<Fd> links_;  // of the program to each event
};

Result<std::unique_ptr<SampleSource>> BpfSamples::make(const SampledScope& scope,
                                                       const Samplers& samplers) {
  TRY(check_bpf());
  auto source = std::make_unique<BpfSamples>();
  source->scope_ = scope.name();
  TRY_ASSIGN(EventRings changes,
             EventRings::open(scope, changes_ring_bytes(), kLeastChangesRingBytes));
  source->changes_ = std::make_unique<EventRings>(std::move(changes));
  const size_t cpus = source->changes_->rings().size();
  source->ring_bytes_ =
      std::clamp(std::bit_floor(kAllRingsBytes / cpus), kLeastRingBytes, kMostRingBytes);
  TRY(source->load(scope));
  for (EventRings::Ring& ring : source->changes_->rings()) {
    source->streams_.push_back(make_ring_stream(*source->changes_, ring));
    TRY(source->add_ring(ring.cpu));
  }
  for (const auto& stream : source->streams_) source->order_.push_back(stream.get());
  if (scope.is_tree()) TRY(source->follow_tree(scope));
  TRY(source->events_.open(scope, samplers, {.per_cpu = scope.is_tree()}, *source->changes_));
  TRY(source->attach());
  return std::unique_ptr<SampleSource>(std::move(source));
}

Status BpfSamples::load(const SampledScope& scope) {
  const size_t capacity =
      scope.is_tree() ? kMinTreeCapacity + 2 * scope.processes().size() : size_t{0};
  const int failed =
      load_stack_programs(&programs_, ring_bytes_ / 2, static_cast<uint32_t>(capacity));
  if (failed != 0) return bpf_error("load the BPF sampler", failed);
  return {};
}

// What an adopted process starts is followed. So once a list has no new process, none is missing.
Status BpfSamples::follow_tree(const SampledScope& scope) {
  if (const int failed = follow_stack_tree(&programs_); failed != 0)
    return bpf_error("attach the BPF program for forks", failed);
  std::unordered_set<int64_t> adopted;
  for (bool added = true; added;) {
    added = false;
    for (const int64_t pid : scope.processes()) {
      if (!adopted.insert(pid).second) continue;
      added = true;
      const auto key = static_cast<int32_t>(pid);
      const uint8_t present = 1;
      const int failed = bpf_map_update_elem(programs_.tree_adopted_fd, &key, &present, BPF_ANY);
      if (failed != 0) return bpf_error("follow process " + std::to_string(pid), failed);
    }
  }
  return {};
}

Status BpfSamples::add_ring(int cpu) {
  const int made = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "fathom_stacks", 0, 0,
                                  static_cast<uint32_t>(ring_bytes_), nullptr);
  if (made < 0) return bpf_error("make a ring for stack copies", made);
  Fd ring_fd(made);
  const auto key = static_cast<uint32_t>(cpu);
  const int failed = bpf_map_update_elem(programs_.rings_fd, &key, &made, BPF_ANY);
  if (failed != 0) return bpf_error("place a ring for stack copies", failed);
  TRY_ASSIGN(BpfRing ring, BpfRing::map(ring_fd.get(), ring_bytes_));
  copy_rings_.push_back(std::move(ring_fd));
  streams_.push_back(std::make_unique<CopyStream>(std::move(ring)));
  return {};
}

Status BpfSamples::attach() {
  for (const SampleEvents::Event& event : events_.events()) {
    LIBBPF_OPTS(bpf_link_create_opts, options);
    options.perf_event.bpf_cookie = event.sampler;
    const int link =
        bpf_link_create(programs_.program_fd, event.fd.get(), BPF_PERF_EVENT, &options);
    if (link < 0) return bpf_error("attach the BPF sampler", link);
    links_.emplace_back(link);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<SampleSource>> sample_by_bpf(const SampledScope& scope,
                                                    const Samplers& samplers) {
  return BpfSamples::make(scope, samplers);
}

}  // namespace fathom
