// SPDX-License-Identifier: Apache-2.0
#include "probe/io/kernel_calls.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

#include "base/bpf.h"
#include "base/bpf_ring.h"
#include "base/fd.h"
#include "base/text.h"
#include "probe/io/calls_skeleton.h"
#include "probe/io/kernel_layers.h"
#include "probe/io/system_calls.h"

namespace fathom {
namespace {

constexpr size_t kAllRingsBytes = size_t{64} << 20;
constexpr size_t kMostRingBytes = size_t{8} << 20;
constexpr size_t kLeastRingBytes = size_t{1} << 20;
constexpr size_t kWakeParts = 8;  // of a ring that is full so far its reader is woken
constexpr size_t kMostWaiting = 1 << 16;
constexpr int kEndPatience = 1000;

// As the kernel writes it into inodes: eventfd, epoll and their like share it.
uint32_t anonymous_device() {
  const Fd any(epoll_create1(EPOLL_CLOEXEC));
  struct stat status {};
  if (!any.valid() || fstat(any.get(), &status) != 0) return 0;
  return (major(status.st_dev) << 20) | minor(status.st_dev);
}

class BpfCalls final : public KernelCalls {
 public:
  BpfCalls() = default;
  ~BpfCalls() override { close_calls(skeleton_); }
  BpfCalls(const BpfCalls&) = delete;
  BpfCalls& operator=(const BpfCalls&) = delete;

  Status load(const KernelCallSettings& settings, WireCallsOf whom);
  Status follow(const Target& target);
  Status attach();

  [[nodiscard]] const std::vector<KernelFunction>& functions() const override { return functions_; }
  [[nodiscard]] std::vector<int> wake_fds() const override {
    std::vector<int> fds;
    for (const Fd& ring : ring_fds_) fds.push_back(ring.get());
    return fds;
  }
  void adopt(const Target& target) override;
  void drain(KernelRecords& records) override { drain(records, false); }
  void gather(int64_t now_ns) override;
  void finish(KernelRecords& records) override;
  [[nodiscard]] int64_t dropped() const override;
  [[nodiscard]] int64_t buffer_bytes() const override;
  [[nodiscard]] std::string rung() const override;
  [[nodiscard]] std::string missing() const override;

 private:
  void set_rules();
  void choose_programs();
  Status add_rings();
  Status mark(int64_t pid);
  void drain(KernelRecords& records, bool last);
  void take_waiting(KernelRecords& records, bool last);
  void send_before(uint32_t slice);
  void count_unended();

  CallsSkeleton* skeleton_ = nullptr;
  KernelCallSettings settings_;
  WireCallsOf whom_ = kCallsOfMarked;
  std::vector<KernelFunction> functions_;
  size_t ring_bytes_ = 0;
  std::vector<Fd> ring_fds_;
  std::vector<BpfRing> rings_;
  std::unique_ptr<BpfRing> names_;
  std::vector<std::vector<std::byte>> waiting_;  // records whose file has no name yet
  std::set<int64_t> adopted_;
  std::vector<std::string> seen_layers_;
  std::string not_here_;     // hooks that this kernel does not have
  bool unfinished_ = false;  // a record was never ended
  int64_t unended_ = 0;
  int64_t misses_ = 0;
  uint32_t gathered_ = 0;
};

void BpfCalls::set_rules() {
  functions_.resize(kWireFunctions);
  auto& rules = skeleton_->rodata->rules;
  uint16_t number = 0;
  for (const SystemCall& call : system_calls()) {
    if (call.number < 0 || call.number >= kWireSystemCalls) continue;
    WireRule rule = call.rule;
    rule.function = ++number;  // 0 is an empty cell's
    rules[call.number] = rule;
    functions_[number] = {"sys", std::string(call.name), (rule.flags & kRuleBytes) != 0,
                          (rule.flags & kRuleAtEntry) == 0};
  }
  name_layer_functions(functions_);
}

Status BpfCalls::load(const KernelCallSettings& settings, WireCallsOf whom) {
  settings_ = settings;
  whom_ = whom;
  skeleton_ = open_calls();
  if (skeleton_ == nullptr) return bpf_error("open the BPF programs for calls", errno);
  ring_bytes_ =
      std::clamp(std::bit_floor(kAllRingsBytes / static_cast<size_t>(libbpf_num_possible_cpus())),
                 kLeastRingBytes, kMostRingBytes);
  auto& constants = *skeleton_->rodata;
  constants.whom = whom;
  constants.trace = settings.trace ? 1 : 0;
  constants.with_files = settings.files ? 1 : 0;
  constants.anonymous_device = anonymous_device();
  constants.recorder_pid = static_cast<uint32_t>(getpid());
  constants.wake_bytes = ring_bytes_ / kWakeParts;
  constants.slice_base_ns = static_cast<uint64_t>(settings.slice_base_ns);
  constants.interval_ns = static_cast<uint64_t>(settings.interval_ns);
  constants.least_duration_ns = static_cast<uint64_t>(settings.least_duration_ns);
  constants.least_bytes = static_cast<uint64_t>(settings.least_bytes);
  set_rules();
  choose_programs();
  if (const int failed = load_calls(skeleton_); failed != 0)
    return bpf_error("load the BPF programs for calls", failed);
  return add_rings();
}

// Those of the layers asked for, and of them those that this kernel takes.
void BpfCalls::choose_programs() {
  std::map<std::string, std::set<std::string>> missing;  // hooks by reason
  for (const KernelProgram& program : kernel_programs()) {
    bpf_program* loaded = bpf_object__find_program_by_name(skeleton_->obj, program.program);
    if (loaded == nullptr) continue;
    bool wanted = *program.layer == 0 || settings_.layers.has(program.layer);
    if (wanted) {
      const HookState state = try_hook(program);
      if (!state.can) missing[state.why].insert(program.hook);
      wanted = state.can;
    }
    bpf_program__set_autoload(loaded, wanted);
    if (wanted && *program.layer != 0 &&
        std::find(seen_layers_.begin(), seen_layers_.end(), program.layer) == seen_layers_.end())
      seen_layers_.emplace_back(program.layer);
  }
  for (const auto& [why, hooks] : missing) {
    const std::vector<std::string> names(hooks.begin(), hooks.end());
    not_here_ += fmt::format("{}{} ({})", not_here_.empty() ? "" : ", ", join(names, ", "), why);
  }
}

Status BpfCalls::add_rings() {
  const int cpus = std::min<int>(libbpf_num_possible_cpus(), kWireCallCpus);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const int made = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "fathom_calls", 0, 0,
                                    static_cast<uint32_t>(ring_bytes_), nullptr);
    if (made < 0) return bpf_error("make a ring for calls", made);
    Fd ring_fd(made);
    const auto key = static_cast<uint32_t>(cpu);
    const int failed =
        bpf_map_update_elem(bpf_map__fd(skeleton_->maps.rings), &key, &made, BPF_ANY);
    if (failed != 0) return bpf_error("place a ring for calls", failed);
    TRY_ASSIGN(BpfRing ring, BpfRing::map(ring_fd.get(), ring_bytes_));
    ring_fds_.push_back(std::move(ring_fd));
    rings_.push_back(std::move(ring));
  }
  TRY_ASSIGN(BpfRing names, BpfRing::map(bpf_map__fd(skeleton_->maps.names), kWireNameRingBytes));
  names_ = std::make_unique<BpfRing>(std::move(names));
  return {};
}

// A process that has not begun its program yet.
Status BpfCalls::mark(int64_t pid) {
  const Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
  if (!pidfd.valid()) return errno_error("pidfd_open " + std::to_string(pid));
  const int key = pidfd.get();
  auto calls = std::make_unique<WireTaskCalls>();
  calls->pid = calls->tid = static_cast<uint32_t>(pid);
  calls->waiting = 1;
  const int failed =
      bpf_map_update_elem(bpf_map__fd(skeleton_->maps.followed), &key, calls.get(), BPF_ANY);
  if (failed != 0) return bpf_error("mark process " + std::to_string(pid), failed);
  return {};
}

void BpfCalls::adopt(const Target& target) {
  if (whom_ != kCallsOfAdopted) return;
  for (const int64_t pid : processes_in(target)) {
    if (!adopted_.insert(pid).second) continue;
    const auto key = static_cast<int32_t>(pid);
    const uint8_t present = 1;
    if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.adopted), &key, &present, BPF_ANY) != 0)
      ++misses_;
  }
}

Status BpfCalls::follow(const Target& target) {
  if (whom_ == kCallsOfMarked) return mark(target.pid());
  if (whom_ == kCallsOfCgroup) {
    TRY_ASSIGN(const Fd folder, open_file(target.cgroup()->unified(), O_RDONLY | O_DIRECTORY));
    const uint32_t zero = 0;
    const int fd = folder.get();
    const int failed =
        bpf_map_update_elem(bpf_map__fd(skeleton_->maps.watched_cgroup), &zero, &fd, BPF_ANY);
    if (failed != 0) return bpf_error("watch a cgroup", failed);
  }
  adopt(target);
  return {};
}

Status BpfCalls::attach() {
  if (const int failed = attach_calls(skeleton_); failed != 0)
    return bpf_error("attach the BPF programs for calls", failed);
  return {};
}

void BpfCalls::take_waiting(KernelRecords& records, bool last) {
  std::erase_if(waiting_,
                [&](const std::vector<std::byte>& record) { return records.take(record, last); });
}

void BpfCalls::drain(KernelRecords& records, bool last) {
  for (std::span<const std::byte> name = names_->peek(); !name.empty(); name = names_->peek()) {
    records.files().add(name);
    names_->pop();
  }
  take_waiting(records, last);
  for (BpfRing& ring : rings_) {
    for (std::span<const std::byte> record = ring.peek(); !record.empty(); record = ring.peek()) {
      if (!records.take(record, last || waiting_.size() >= kMostWaiting))
        waiting_.emplace_back(record.begin(), record.end());
      ring.pop();
    }
  }
}

void BpfCalls::send_before(uint32_t slice) {
  skeleton_->bss->send_before_slice = slice;
  const Fd reader(bpf_iter_create(bpf_link__fd(skeleton_->links.send_idle)));
  if (!reader.valid()) return;
  std::array<char, 64> nothing{};
  while (read(reader.get(), nothing.data(), nothing.size()) > 0) {
  }
}

void BpfCalls::gather(int64_t now_ns) {
  if (settings_.trace) return;
  const auto slice =
      static_cast<uint32_t>((now_ns - settings_.slice_base_ns) / settings_.interval_ns);
  if (slice == gathered_) return;
  gathered_ = slice;
  send_before(slice);
}

void BpfCalls::finish(KernelRecords& records) {
  detach_calls(skeleton_);
  // Whoever runs one of the programs at this moment has left it then.
  syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
  drain(records, false);
  if (!settings_.trace) send_before(UINT32_MAX);
  const auto unread = [this] {
    return std::any_of(rings_.begin(), rings_.end(),
                       [](const BpfRing& ring) { return !ring.empty(); });
  };
  for (int tries = 0; tries < kEndPatience; ++tries) {
    drain(records, false);
    if (!unread()) break;
    sched_yield();
  }
  drain(records, true);
  unfinished_ = unread();
  count_unended();
}

// Requests of disks that were issued, and whose end was never told.
void BpfCalls::count_unended() {
  const int map = bpf_map__fd(skeleton_->maps.requests);
  uint64_t key = 0, next = 0;
  for (bool first = true; bpf_map_get_next_key(map, first ? nullptr : &key, &next) == 0;) {
    first = false;
    key = next;
    WireRequest request{};
    if (bpf_map_lookup_elem(map, &key, &request) == 0 && request.issue_ns != 0) ++unended_;
  }
}

int64_t BpfCalls::dropped() const {
  return static_cast<int64_t>(skeleton_->bss->counts.dropped) + calls_missed(skeleton_);
}

int64_t BpfCalls::buffer_bytes() const {
  const auto rings = static_cast<int64_t>(rings_.size() * ring_bytes_);
  const int64_t slots = kWireFileSlots * int64_t{64};
  return rings + kWireNameRingBytes + slots +
         static_cast<int64_t>(rings_.size() * sizeof(WireNameScratch));
}

std::string BpfCalls::rung() const {
  return fmt::format("BPF tracepoints ({})", join(seen_layers_, ", "));
}

std::string BpfCalls::missing() const {
  const auto& counts = skeleton_->bss->counts;
  std::string text;
  const auto add = [&](uint64_t count, const char* what) {
    if (count == 0) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", format_count(count), what);
  };
  add(static_cast<uint64_t>(dropped()),
      "calls in the kernel were lost: the recorder came too late");
  add(static_cast<uint64_t>(unended_),
      "requests of disks had not ended, or their end was not told");
  add(counts.not_followed + static_cast<uint64_t>(misses_),
      "processes or threads were not followed: no memory for it");
  add(counts.dropped_names, "files have no name: too many were new at once");
  add(counts.foreign, "system calls of 32-bit programs were not told apart");
  add(counts.too_deep, "calls were nested too deep");
  if (unfinished_)
    text += (text.empty() ? "" : "; ") + std::string("a ring was not read to its end");
  if (!not_here_.empty()) text += (text.empty() ? "" : "; ") + ("not seen: " + not_here_);
  return text;
}

WireCallsOf whom_of(const Target& target) {
  const Scope scope = target.scope();
  if (!scope.attached) return kCallsOfMarked;
  if (scope.kind == Scope::Kind::kSystem) return kCallsOfEverybody;
  const bool has_folder = target.cgroup() != nullptr && !target.cgroup()->unified().empty();
  if (scope.kind == Scope::Kind::kCgroup && has_folder) return kCallsOfCgroup;
  return kCallsOfAdopted;
}

}  // namespace

Result<std::unique_ptr<KernelCalls>> KernelCalls::open(const Target& target,
                                                       const KernelCallSettings& settings) {
  TRY(check_bpf());
  auto calls = std::make_unique<BpfCalls>();
  TRY(calls->load(settings, whom_of(target)));
  TRY(calls->follow(target));
  TRY(calls->attach());
  return std::unique_ptr<KernelCalls>(std::move(calls));
}

Status try_kernel_calls() {
  TRY(check_bpf());
  BpfCalls calls;
  KernelCallSettings settings;
  settings.interval_ns = 1'000'000'000;
  settings.layers.names = {"sys"};
  TRY(calls.load(settings, kCallsOfMarked));
  return calls.attach();
}

}  // namespace fathom
