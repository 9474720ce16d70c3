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
#include "base/proc_system.h"
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

// The program, loaded, and a ring of its own on each CPU.
class BpfSampler final : public LoadedSampler {
 public:
  // `tree_capacity`: processes of a tree that are followed; 0: events are of the scope alone.
  static Result<std::unique_ptr<BpfSampler>> load(uint32_t tree_capacity);

  BpfSampler() = default;
  ~BpfSampler() override {
    if (programs_.skeleton != nullptr) close_stack_programs(&programs_);
  }
  BpfSampler(const BpfSampler&) = delete;
  BpfSampler& operator=(const BpfSampler&) = delete;

  [[nodiscard]] StackPrograms& programs() { return programs_; }
  [[nodiscard]] const StackPrograms& programs() const { return programs_; }
  [[nodiscard]] const std::vector<Fd>& ring_fds() const { return ring_fds_; }
  [[nodiscard]] size_t ring_bytes() const { return ring_bytes_; }
  // In the order of online_cpus(); for the caller to read.
  std::vector<BpfRing> take_rings() { return std::move(rings_); }

 private:
  Status add_rings(const std::vector<int>& cpus);

  StackPrograms programs_{};
  size_t ring_bytes_ = 0;
  std::vector<Fd> ring_fds_;
  std::vector<BpfRing> rings_;
};

Result<std::unique_ptr<BpfSampler>> BpfSampler::load(uint32_t tree_capacity) {
  TRY(check_bpf());
  TRY_ASSIGN(const std::vector<int> cpus, online_cpus());
  auto sampler = std::make_unique<BpfSampler>();
  sampler->ring_bytes_ =
      std::clamp(std::bit_floor(kAllRingsBytes / cpus.size()), kLeastRingBytes, kMostRingBytes);
  const int failed =
      load_stack_programs(&sampler->programs_, sampler->ring_bytes_ / 2, tree_capacity);
  if (failed != 0) return bpf_error("load the BPF sampler", failed);
  TRY(sampler->add_rings(cpus));
  return sampler;
}

Status BpfSampler::add_rings(const std::vector<int>& cpus) {
  std::vector<uint32_t> keys;
  std::vector<int> maps;
  for (const int cpu : cpus) {
    const int made = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "fathom_stacks", 0, 0,
                                    static_cast<uint32_t>(ring_bytes_), nullptr);
    if (made < 0) return bpf_error("make a ring for stack copies", made);
    ring_fds_.emplace_back(made);
    keys.push_back(static_cast<uint32_t>(cpu));
    maps.push_back(made);
    TRY_ASSIGN(BpfRing ring, BpfRing::map(made, ring_bytes_));
    rings_.push_back(std::move(ring));
  }
  return place_maps(programs_.rings_fd, keys, maps, "place the rings for stack copies");
}

class BpfSamples final : public SampleSource {
 public:
  static Result<std::unique_ptr<SampleSource>> make(const SampledScope& scope,
                                                    const Samplers& samplers,
                                                    std::unique_ptr<LoadedSampler> loaded);

  [[nodiscard]] std::string name() const override {
    return fmt::format("bpf copies of the stack, by {}", scope_);
  }
  void drain(SampleListener& listener, int64_t until_ns) override {
    merge_streams(order_, listener, until_ns);
  }
  [[nodiscard]] std::vector<int> wake_fds() const override {
    std::vector<int> fds = changes_->wake_fds();
    for (const Fd& ring : sampler_->ring_fds()) fds.push_back(ring.get());
    return fds;
  }
  [[nodiscard]] std::vector<int> bpf_programs() const override {
    return {programs().program_fd, programs().fork_program_fd};
  }
  [[nodiscard]] int64_t dropped() const override {
    return static_cast<int64_t>(*programs().dropped + *programs().not_followed) + changes_->lost();
  }
  [[nodiscard]] int64_t owed(uint32_t sampler) const override {
    int64_t sum = 0;
    for (const EventRings::Ring& ring : changes_->rings()) {
      const size_t cpu = static_cast<size_t>(ring.cpu) % kWireMostCpus;
      sum += static_cast<int64_t>(programs().owed[cpu * kWireMostSamplers + sampler]);
    }
    return sum;
  }
  [[nodiscard]] int64_t throttled() const override { return changes_->throttled(); }
  [[nodiscard]] int64_t counted(uint32_t sampler) const override {
    return events_.counted(sampler);
  }
  [[nodiscard]] int64_t buffer_bytes() const override {
    return changes_->mapped_bytes() +
           static_cast<int64_t>(sampler_->ring_fds().size() * sampler_->ring_bytes());
  }
  [[nodiscard]] bool sees_kernel() const override { return events_.sees_kernel(); }

 private:
  [[nodiscard]] const StackPrograms& programs() const { return sampler_->programs(); }
  Status load(const SampledScope& scope, std::unique_ptr<LoadedSampler> loaded);
  Status follow_tree(const SampledScope& scope);
  void add_streams();
  Status attach();

  const char* scope_ = "";
  std::unique_ptr<BpfSampler> sampler_;
  std::unique_ptr<EventRings> changes_;
  SampleEvents events_;
  std::vector<std::unique_ptr<TimedStream>> streams_;
  std::vector<TimedStream*> order_;
  std::vector<Fd> links_;  // of the program to each event
};

Result<std::unique_ptr<SampleSource>> BpfSamples::make(const SampledScope& scope,
                                                       const Samplers& samplers,
                                                       std::unique_ptr<LoadedSampler> loaded) {
  auto source = std::make_unique<BpfSamples>();
  source->scope_ = scope.name();
  TRY_ASSIGN(EventRings changes,
             EventRings::open(scope, changes_ring_bytes(), kLeastChangesRingBytes));
  source->changes_ = std::make_unique<EventRings>(std::move(changes));
  TRY(source->load(scope, std::move(loaded)));
  source->add_streams();
  if (scope.is_tree()) TRY(source->follow_tree(scope));
  TRY(source->events_.open(scope, samplers, {.per_cpu = scope.is_tree()}, *source->changes_));
  TRY(source->attach());
  return std::unique_ptr<SampleSource>(std::move(source));
}

Status BpfSamples::load(const SampledScope& scope, std::unique_ptr<LoadedSampler> loaded) {
  if (loaded && !scope.is_tree()) {
    sampler_.reset(static_cast<BpfSampler*>(loaded.release()));
    return {};
  }
  const size_t capacity =
      scope.is_tree() ? kMinTreeCapacity + 2 * scope.processes().size() : size_t{0};
  TRY_ASSIGN(sampler_, BpfSampler::load(static_cast<uint32_t>(capacity)));
  return {};
}

void BpfSamples::add_streams() {
  for (EventRings::Ring& changes : changes_->rings())
    streams_.push_back(make_ring_stream(*changes_, changes));
  for (BpfRing& ring : sampler_->take_rings())
    streams_.push_back(std::make_unique<CopyStream>(std::move(ring)));
  for (const auto& stream : streams_) order_.push_back(stream.get());
}

// What an adopted process starts is followed. So once a list has no new process, none is missing.
Status BpfSamples::follow_tree(const SampledScope& scope) {
  if (const int failed = follow_stack_tree(&sampler_->programs()); failed != 0)
    return bpf_error("attach the BPF program for forks", failed);
  std::unordered_set<int64_t> adopted;
  for (bool added = true; added;) {
    added = false;
    for (const int64_t pid : scope.processes()) {
      if (!adopted.insert(pid).second) continue;
      added = true;
      const auto key = static_cast<int32_t>(pid);
      const uint8_t present = 1;
      const int failed = bpf_map_update_elem(programs().tree_adopted_fd, &key, &present, BPF_ANY);
      if (failed != 0) return bpf_error("follow process " + std::to_string(pid), failed);
    }
  }
  return {};
}

Status BpfSamples::attach() {
  for (const SampleEvents::Event& event : events_.events()) {
    LIBBPF_OPTS(bpf_link_create_opts, options);
    options.perf_event.bpf_cookie = event.sampler;
    const int link =
        bpf_link_create(programs().program_fd, event.fd.get(), BPF_PERF_EVENT, &options);
    if (link < 0) return bpf_error("attach the BPF sampler", link);
    links_.emplace_back(link);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<LoadedSampler>> load_bpf_sampler() {
  TRY_ASSIGN(auto sampler, BpfSampler::load(0));
  return std::unique_ptr<LoadedSampler>(std::move(sampler));
}

Result<std::unique_ptr<SampleSource>> sample_by_bpf(const SampledScope& scope,
                                                    const Samplers& samplers) {
  return BpfSamples::make(scope, samplers, nullptr);
}

Result<std::unique_ptr<SampleSource>> sample_by_loaded_bpf(const SampledScope& scope,
                                                           const Samplers& samplers,
                                                           std::unique_ptr<LoadedSampler> loaded) {
  return BpfSamples::make(scope, samplers, std::move(loaded));
}

}  // namespace fathom
