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
#include <map>
#include <set>
#include <utility>

#include "base/bpf.h"
#include "base/fd.h"
#include "base/text.h"
#include "probe/io/call_rings.h"
#include "probe/io/call_stacks.h"
#include "probe/io/calls_skeleton.h"
#include "probe/io/hook_plan.h"
#include "probe/io/hook_programs.h"
#include "probe/io/kernel_layers.h"
#include "probe/io/system_calls.h"

namespace fathom {
namespace {

constexpr int kEndPatience = 1000;
constexpr size_t kNamesShown = 12;
constexpr uint8_t kAnswerArguments = 3;  // of io_uring_complete; older kernels have more

// As the kernel writes it into inodes: eventfd, epoll and their like share it.
uint32_t anonymous_device() {
  const Fd any(epoll_create1(EPOLL_CLOEXEC));
  struct stat status {};
  if (!any.valid() || fstat(any.get(), &status) != 0) return 0;
  return (major(status.st_dev) << 20) | minor(status.st_dev);
}

// The program that libbpf complains about; empty: it names none.
std::string program_in(const std::string& complaint) {
  constexpr std::string_view kBefore = "prog '";
  const size_t at = complaint.find(kBefore);
  if (at == std::string::npos) return {};
  const size_t from = at + kBefore.size();
  return complaint.substr(from, complaint.find('\'', from) - from);
}

// Whether the rest is worth having without it.
bool may_miss(const std::string& name) {
  const auto programs = kernel_programs();
  return std::any_of(programs.begin(), programs.end(), [&](const KernelProgram& program) {
    return name == program.program && *program.layer != 0 && name != "on_enter" &&
           name != "on_exit";
  });
}

class BpfCalls final : public KernelCalls {
 public:
  BpfCalls() = default;
  ~BpfCalls() override {
    hooks_.reset();
    close_calls(skeleton_);
  }
  BpfCalls(const BpfCalls&) = delete;
  BpfCalls& operator=(const BpfCalls&) = delete;

  Status load(const KernelCallSettings& settings, WireCallsOf whom);
  Status attach(const Target& target) override {
    TRY(follow(target));
    return is_attached_ ? Status() : attach_programs();
  }
  Status attach_programs();

  [[nodiscard]] const std::vector<KernelFunction>& functions() const override { return functions_; }
  [[nodiscard]] std::vector<int> wake_fds() const override { return rings_.wake_fds(); }
  void adopt(const Target& target) override;
  void drain(KernelRecords& records) override { rings_.drain(records, false); }
  void gather(int64_t now_ns) override;
  void stop() override;
  void finish(KernelRecords& records) override;
  [[nodiscard]] std::vector<int> bpf_programs() const override;
  [[nodiscard]] int64_t dropped() const override;
  [[nodiscard]] int64_t buffer_bytes() const override;
  [[nodiscard]] std::string rung() const override;
  [[nodiscard]] std::string missing() const override;

 private:
  void set_rules();
  Status follow(const Target& target);
  Status prepare();
  void choose_programs();
  bool is_wanted(const SystemCall& call) const;
  Status attach_hooks();
  void see_layer(const std::string& layer);
  void note_missing(const std::string& why, const std::string& hook);
  Status mark(int64_t pid);
  void send_before(uint32_t slice);
  [[nodiscard]] int64_t missed() const;

  CallsSkeleton* skeleton_ = nullptr;
  KernelCallSettings settings_;
  WireCallsOf whom_ = kCallsOfMarked;
  std::vector<KernelFunction> functions_;
  CallRings rings_;
  std::set<int64_t> adopted_;
  std::vector<std::string> seen_layers_;
  std::map<std::string, std::set<std::string>> not_here_;  // hooks by the reason
  std::unique_ptr<KernelTypes> types_;  // until all is attached; nullptr: not needed
  std::vector<HookWish> wishes_;
  std::set<std::string> refused_;  // programs that this kernel would not load
  std::unique_ptr<HookPrograms> hooks_;
  bool is_attached_ = false, is_stopped_ = false;
  bool unfinished_ = false;  // a record was never ended
  int64_t misses_ = 0;
  uint32_t gathered_ = 0;
};

// Where a probe set names some, only those.
bool BpfCalls::is_wanted(const SystemCall& call) const {
  bool named = false;
  for (const Capture& capture : settings_.captures) {
    if (capture.kind != Capture::Kind::kSystemCalls) continue;
    named = true;
    if (capture.pattern.fits(std::string(call.name))) return true;
  }
  return !named;
}

void BpfCalls::set_rules() {
  functions_.resize(kWireFunctions);
  auto& rules = skeleton_->rodata->rules;
  uint16_t number = 0;
  for (const SystemCall& call : system_calls()) {
    if (call.number < 0 || call.number >= kWireSystemCalls || !is_wanted(call)) continue;
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
  // Reading them takes as long as all that system calls need.
  if (needs_types(settings_.layers, settings_.captures)) {
    TRY_ASSIGN(types_, KernelTypes::load());
    TRY_ASSIGN(wishes_, wish_hooks(settings_.layers, settings_.captures, *types_,
                                   hooks_of(settings_.layers)));
  }
  TRY(rings_.begin());
  while (true) {
    TRY(prepare());
    const int failed = load_calls(skeleton_);
    if (failed == 0) {
      if (settings_.stacks != nullptr)
        TRY(settings_.stacks->place_rings(bpf_map__fd(skeleton_->maps.stack_rings)));
      return rings_.open(bpf_map__fd(skeleton_->maps.names));
    }
    Error error = bpf_error("load the BPF programs for calls", failed);
    const std::string culprit = program_in(error.message);
    if (!may_miss(culprit) || !refused_.insert(culprit).second) return error;
    close_calls(skeleton_);
    skeleton_ = nullptr;
  }
}

// Opened, with its constants and those programs that are wanted.
Status BpfCalls::prepare() {
  skeleton_ = open_calls();
  if (skeleton_ == nullptr) return bpf_error("open the BPF programs for calls", errno);
  if (const int failed = bpf_map__reuse_fd(skeleton_->maps.rings, rings_.map_fd()); failed != 0)
    return bpf_error("use the map of rings for calls", failed);
  auto& constants = *skeleton_->rodata;
  constants.whom = whom_;
  constants.trace = settings_.trace ? 1 : 0;
  constants.with_stacks = settings_.stacks != nullptr ? 1 : 0;
  if (settings_.stacks != nullptr) constants.stack_wake_bytes = settings_.stacks->wake_bytes();
  constants.with_files = settings_.files ? 1 : 0;
  constants.anonymous_device = anonymous_device();
  constants.own_mark = settings_.own_mark;
  constants.recorder_pid = static_cast<uint32_t>(getpid());
  constants.wake_bytes = rings_.wake_bytes();
  constants.slice_base_ns = static_cast<uint64_t>(settings_.slice_base_ns);
  constants.interval_ns = static_cast<uint64_t>(settings_.interval_ns);
  constants.least_duration_ns = static_cast<uint64_t>(settings_.least_duration_ns);
  constants.least_bytes = static_cast<uint64_t>(settings_.least_bytes);
  const auto is_user = [](const HookWish& wish) { return !wish.file.empty(); };
  constants.with_user = std::any_of(wishes_.begin(), wishes_.end(), is_user) ? 1 : 0;
  if (types_) {
    constants.starts_untold = types_->tracepoint("block_io_start") == nullptr ? 1 : 0;
    const KernelPlace* answer = types_->tracepoint("io_uring_complete");
    constants.plain_answers = answer != nullptr && answer->arguments > kAnswerArguments ? 1 : 0;
  }
  set_rules();
  choose_programs();
  return {};
}

void BpfCalls::see_layer(const std::string& layer) {
  if (std::find(seen_layers_.begin(), seen_layers_.end(), layer) == seen_layers_.end())
    seen_layers_.push_back(layer);
}

void BpfCalls::note_missing(const std::string& why, const std::string& hook) {
  not_here_[why].insert(hook);
}

// Those of the layers asked for, and of them those that this kernel takes.
void BpfCalls::choose_programs() {
  seen_layers_.clear();
  for (const KernelProgram& program : kernel_programs())
    if (bpf_program* all = bpf_object__find_program_by_name(skeleton_->obj, program.program))
      bpf_program__set_autoload(all, false);
  for (const KernelProgram* program : wanted_programs(settings_.layers, types_.get())) {
    bpf_program* wanted = bpf_object__find_program_by_name(skeleton_->obj, program->program);
    std::string why = why_no_hook(*program, types_.get());
    if (refused_.contains(program->program)) why = "this kernel refuses the program for it";
    if (!why.empty() || wanted == nullptr) {
      note_missing(why, program->hook);
      continue;
    }
    bpf_program__set_autoload(wanted, true);
    if (*program->layer != 0) see_layer(program->layer);
  }
  for (bpf_program* copied : {skeleton_->progs.hook_traced, skeleton_->progs.hook_registers}) {
    bpf_program__set_autoload(copied, !wishes_.empty());
    bpf_program__set_autoattach(copied, false);
  }
}

// Each by the best rung that this kernel takes.
Status BpfCalls::attach_hooks() {
  if (wishes_.empty()) return {};
  hooks_ = std::make_unique<HookPrograms>(*skeleton_);
  uint32_t number = kHookFirst;
  for (const HookWish& wish : wishes_) {
    hooks_->set_function(number);
    const HookOutcome outcome = attach_best(wish, *types_, *hooks_);
    functions_[number++] = {wish.layer, wish.name, outcome.has_bytes, outcome.has_time};
    if (outcome.sides.empty())
      note_missing(outcome.why, wish.name);
    else
      see_layer(wish.layer);
    // It writes in pieces of a page, each within this function: the bytes are the same ones.
    if (wish.name == "ext4_file_write_iter" && outcome.has_bytes)
      functions_[kExt4Write].has_bytes = false;
  }
  return {};
}

// A process that has not begun its program yet.
Status BpfCalls::mark(int64_t pid) {
  const Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
  if (!pidfd.valid()) return errno_error("pidfd_open " + std::to_string(pid));
  const int key = pidfd.get();
  auto calls = std::make_unique<WireTaskCalls>();
  calls->pid = calls->tid = static_cast<uint32_t>(pid);
  calls->waiting = kTaskMarked;
  ++skeleton_->bss->marked;
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
  if (whom_ == kCallsOfMarked) {
    for (const int64_t root : target.scope().roots) TRY(mark(root));
    return {};
  }
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

Status BpfCalls::attach_programs() {
  TRY(attach_hooks());
  types_.reset();
  if (const int failed = attach_calls(skeleton_); failed != 0)
    return bpf_error("attach the BPF programs for calls", failed);
  is_attached_ = true;
  return {};
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
  const auto slice =
      static_cast<uint32_t>((now_ns - settings_.slice_base_ns) / settings_.interval_ns);
  if (slice == gathered_) return;
  gathered_ = slice;
  send_before(slice);
}

void BpfCalls::stop() {
  if (std::exchange(is_stopped_, true)) return;
  skeleton_->bss->closing = kCloseUnseen;
  send_before(0);
  skeleton_->bss->closing = kCloseInFlight;
  detach_calls(skeleton_);
  if (hooks_) hooks_->detach();
  // A task that runs one of the programs at this moment has left it afterwards.
  syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

void BpfCalls::finish(KernelRecords& records) {
  stop();
  rings_.drain(records, false);
  send_before(UINT32_MAX);
  for (int tries = 0; tries < kEndPatience; ++tries) {
    rings_.drain(records, false);
    if (rings_.empty()) break;
    sched_yield();
  }
  rings_.drain(records, true);
  unfinished_ = !rings_.empty();
}

// Within a program of ours: the kernel does not begin it again.
int64_t BpfCalls::missed() const {
  return calls_missed(skeleton_) + (hooks_ ? hooks_->missed() : 0);
}

std::vector<int> BpfCalls::bpf_programs() const {
  std::vector<int> programs = calls_programs(skeleton_);
  if (hooks_) hooks_->add_programs(programs);
  return programs;
}

int64_t BpfCalls::dropped() const {
  return static_cast<int64_t>(skeleton_->bss->counts.dropped) + missed();
}

int64_t BpfCalls::buffer_bytes() const {
  const int64_t slots = kWireFileSlots * int64_t{64};
  return rings_.buffer_bytes() + slots + kWireSlots * int64_t{sizeof(WireTaskCalls)};
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
  add(counts.dropped, "calls in the kernel were lost: the recorder came too late");
  add(static_cast<uint64_t>(missed()),
      "calls in the kernel were lost: they came while another of their kind was looked at");
  add(counts.no_room, "requests were not followed: too many at once");
  add(counts.unseen_ends,
      "requests of disks are counted without time and error: the kernel ran no BPF program when "
      "they completed");
  add(counts.in_flight, "requests of disks were in flight when the recording ended");
  add(counts.not_followed + static_cast<uint64_t>(misses_),
      "processes or threads were not followed: no memory for it");
  add(counts.dropped_names, "files have no name: too many were new at once");
  add(counts.foreign, "system calls of 32-bit programs were not told apart");
  add(counts.too_deep, "calls were nested too deep");
  if (unfinished_)
    text += (text.empty() ? "" : "; ") + std::string("a ring was not read to its end");
  std::string not_seen;
  for (const auto& [why, hooks] : not_here_)
    not_seen +=
        fmt::format("{}{} ({})", not_seen.empty() ? "" : ", ", first_few(hooks, kNamesShown), why);
  if (!not_seen.empty()) text += (text.empty() ? "" : "; ") + ("not seen: " + not_seen);
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

Result<std::unique_ptr<BpfCalls>> load_calls_of(WireCallsOf whom,
                                                const KernelCallSettings& settings) {
  TRY(check_bpf());
  auto calls = std::make_unique<BpfCalls>();
  TRY(calls->load(settings, whom));
  return calls;
}

}  // namespace

// Attached as well: as long as no process has a mark, nothing is seen.
Result<std::unique_ptr<KernelCalls>> KernelCalls::load(const KernelCallSettings& settings) {
  TRY_ASSIGN(auto calls, load_calls_of(kCallsOfMarked, settings));
  TRY(calls->attach_programs());
  return std::unique_ptr<KernelCalls>(std::move(calls));
}

Result<std::unique_ptr<KernelCalls>> KernelCalls::open(const Target& target,
                                                       const KernelCallSettings& settings) {
  TRY_ASSIGN(auto calls, load_calls_of(whom_of(target), settings));
  TRY(calls->attach(target));
  return std::unique_ptr<KernelCalls>(std::move(calls));
}

Status try_kernel_calls() {
  TRY(check_bpf());
  BpfCalls calls;
  KernelCallSettings settings;
  settings.interval_ns = 1'000'000'000;
  settings.layers.names = {"sys"};
  TRY(calls.load(settings, kCallsOfMarked));
  return calls.attach_programs();
}

}  // namespace fathom
