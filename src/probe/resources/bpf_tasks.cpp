// SPDX-License-Identifier: Apache-2.0
// TaskSource by BPF tracepoints: every event, with exact figures at exit. Needs root (or CAP_BPF
// and CAP_PERFMON). The kernel half is tasks.bpf.c, what they share wire/tasks.h.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/bpf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "probe/resources/task_source.h"
#include "probe/resources/tasks_loader.h"
#include "wire/tasks.h"

namespace fathom {
namespace {

constexpr int64_t kExitPatienceNs = 200'000;

struct RingCloser {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};
using Ring = std::unique_ptr<ring_buffer, RingCloser>;

Maybe count(uint64_t value) { return static_cast<int64_t>(value); }

// The kernel counts user and system time by the tick and the sum exactly: scale, as getrusage does.
void split_run_time(const WireExit& exit, TaskUsage& usage) {
  const long double ticks = static_cast<long double>(exit.user_ticks_ns) + exit.system_ticks_ns;
  const long double share = ticks == 0 ? 0 : exit.system_ticks_ns / ticks;
  const uint64_t system = std::min(static_cast<uint64_t>(exit.run_ns * share), exit.run_ns);
  usage.cpu_ns = count(exit.run_ns);
  usage.system_ns = count(system);
  usage.user_ns = count(exit.run_ns - system);
}

TaskUsage usage_of(const WireExit& exit) {
  TaskUsage usage;
  split_run_time(exit, usage);
  usage.wait_ns = count(exit.wait_ns);
  usage.minor_faults = count(exit.minor_faults);
  usage.major_faults = count(exit.major_faults);
  usage.voluntary_switches = count(exit.voluntary_switches);
  usage.involuntary_switches = count(exit.involuntary_switches);
  usage.read_chars = count(exit.read_chars);
  usage.written_chars = count(exit.written_chars);
  usage.disk_read_bytes = count(exit.disk_read_bytes);
  usage.disk_written_bytes = count(exit.disk_written_bytes);
  if (exit.ends_process != 0) usage.peak_rss_bytes = count(exit.peak_rss_bytes);
  return usage;
}

std::string_view until_nul(const char* text, size_t most) { return {text, strnlen(text, most)}; }

class BpfTasks final : public TaskSource {
 public:
  static Result<std::unique_ptr<TaskSource>> make(int64_t root);
  static Result<std::unique_ptr<TaskSource>> make_for_later();
  BpfTasks() = default;
  ~BpfTasks() override {
    ring_.reset();
    if (programs_.skeleton != nullptr) close_task_programs(&programs_);
  }
  BpfTasks(const BpfTasks&) = delete;
  BpfTasks& operator=(const BpfTasks&) = delete;

  [[nodiscard]] const char* name() const override { return "bpf"; }
  Status follow(int64_t root) override;
  Status adopt(int64_t pid) override;
  void drain(TaskListener& listener) override;
  [[nodiscard]] std::vector<int> bpf_programs() const override {
    return {std::begin(programs_.program_fds), std::end(programs_.program_fds)};
  }
  [[nodiscard]] int64_t seen() const override { return seen_; }
  [[nodiscard]] int64_t dropped() const override;
  [[nodiscard]] int64_t buffer_bytes() const override;

 private:
  Status load(WireWhom whom);
  Status attach();
  static int keep(void* self, void* bytes, size_t size);
  void take_ring();
  void forget_ended();
  void await_exits();
  void deliver(const WireTask& task, TaskListener& listener);
  void deliver_exec(const WireExec& exec, TaskEvent event, TaskListener& listener);

  struct Kept {
    uint64_t time_ns;
    size_t at;
  };

  TaskPrograms programs_{};
  int cpus_ = 0;
  Ring ring_;
  std::vector<uint64_t> arena_;  // records of one drain, 8-byte aligned as in the ring
  std::vector<Kept> kept_;
  std::unordered_set<int32_t> adopted_;        // pids, as the kernel has them
  std::vector<int32_t> ended_, ended_before_;  // of those, told by the last two drains
  int64_t seen_ = 0;
};

Result<std::unique_ptr<TaskSource>> BpfTasks::make(int64_t root) {
  TRY(check_bpf());
  auto source = std::make_unique<BpfTasks>();
  TRY(source->load(root > 0 ? kWireMarked : root == kEverybody ? kWireEverybody : kWireAdopted));
  if (root > 0) TRY(source->follow(root));
  TRY(source->attach());
  return std::unique_ptr<TaskSource>(std::move(source));
}

Result<std::unique_ptr<TaskSource>> BpfTasks::make_for_later() {
  TRY(check_bpf());
  auto source = std::make_unique<BpfTasks>();
  TRY(source->load(kWireMarked));
  TRY(source->attach());
  return std::unique_ptr<TaskSource>(std::move(source));
}

Status BpfTasks::load(WireWhom whom) {
  cpus_ = libbpf_num_possible_cpus();
  if (cpus_ < 0) return bpf_error("count CPUs", cpus_);
  const int failed = load_task_programs(&programs_, static_cast<uint32_t>(cpus_),
                                        static_cast<uint32_t>(sysconf(_SC_PAGESIZE)), whom);
  if (failed != 0) return bpf_error("load BPF task watcher", failed);
  ring_.reset(ring_buffer__new(programs_.events_fd, keep, this, nullptr));
  if (!ring_) return bpf_error("map BPF ring", errno);
  return {};
}

Status BpfTasks::follow(int64_t root) {
  const Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(root), 0)));
  if (!pidfd.valid()) return errno_error("pidfd_open " + std::to_string(root));
  const int key = pidfd.get();
  WireFollowed mark{};
  mark.awaits_exec = 1;
  const int failed = bpf_map_update_elem(programs_.followed_fd, &key, &mark, BPF_ANY);
  if (failed != 0) return bpf_error("mark process " + std::to_string(root), failed);
  return {};
}

Status BpfTasks::adopt(int64_t pid) {
  const auto key = static_cast<int32_t>(pid);
  const uint8_t present = 1;
  const int failed = bpf_map_update_elem(programs_.adopted_fd, &key, &present, BPF_ANY);
  if (failed != 0) return bpf_error("follow process " + std::to_string(pid), failed);
  adopted_.insert(key);
  return {};
}

Status BpfTasks::attach() {
  if (const int failed = attach_task_programs(&programs_); failed != 0) {
    return bpf_error("attach BPF task watcher", failed);
  }
  return {};
}

int BpfTasks::keep(void* self, void* bytes, size_t size) {
  auto& source = *static_cast<BpfTasks*>(self);
  if (size < sizeof(WireTask)) return 0;
  const size_t at = source.arena_.size();
  source.arena_.resize(at + (size + 7) / 8);
  std::memcpy(&source.arena_[at], bytes, size);
  source.kept_.push_back({static_cast<const WireTask*>(bytes)->time_ns, at});
  return 0;
}

void BpfTasks::take_ring() { ring_buffer__consume(ring_.get()); }

// wait(2) can return a few microseconds before the dead task's last switch, which tells its exit:
// whoever waited for the root and then drains shall find it. A large address space takes longer to
// go: next drain.
void BpfTasks::await_exits() {
  const volatile WireTaskCounts& counts = *programs_.counts;
  const int64_t until = monotonic_ns() + kExitPatienceNs;
  while (counts.exits_begun != counts.exits_told && monotonic_ns() < until) sched_yield();
}

// Its id may come back as a stranger's. Not at once: where threads end together each says that the
// process ends, and those whose turn is still to come must be known by it.
void BpfTasks::forget_ended() {
  for (const int32_t pid : std::exchange(ended_before_, std::exchange(ended_, {}))) {
    if (adopted_.erase(pid) != 0) bpf_map_delete_elem(programs_.adopted_fd, &pid);
  }
}

void BpfTasks::drain(TaskListener& listener) {
  forget_ended();
  arena_.clear();
  kept_.clear();
  await_exits();
  take_ring();
  // An exit is told later than it happened, for example after the exec that caused it.
  std::stable_sort(kept_.begin(), kept_.end(),
                   [](const Kept& a, const Kept& b) { return a.time_ns < b.time_ns; });
  for (const Kept& kept : kept_)
    deliver(*reinterpret_cast<const WireTask*>(&arena_[kept.at]), listener);
  seen_ += static_cast<int64_t>(kept_.size());
}

void BpfTasks::deliver(const WireTask& task, TaskListener& listener) {
  TaskEvent event;
  event.time_ns = static_cast<int64_t>(task.time_ns);
  event.pid = task.pid;
  event.tid = task.tid;
  event.name = until_nul(task.name, sizeof(task.name));
  switch (task.kind) {
    case kWireFork: {
      const auto& fork = reinterpret_cast<const WireFork&>(task);
      event.kind = TaskEvent::Kind::kFork;
      event.ppid = task.other;
      event.pid_namespace = fork.pid_namespace;
      event.inner_pid = fork.inner_pid;
      event.inner_tid = fork.inner_tid;
      return listener.on_task(event);
    }
    case kWireRename:
      event.kind = TaskEvent::Kind::kRename;
      return listener.on_task(event);
    case kWireExec:
      return deliver_exec(reinterpret_cast<const WireExec&>(task), event, listener);
    case kWireExit: {
      const auto& exit = reinterpret_cast<const WireExit&>(task);
      const TaskUsage usage = usage_of(exit);
      event.kind = TaskEvent::Kind::kExit;
      event.exit_code = task.other;
      event.ends_process = exit.ends_process != 0;
      if (event.ends_process && adopted_.contains(task.pid)) ended_.push_back(task.pid);
      event.usage = &usage;
      return listener.on_task(event);
    }
    default:
      return;
  }
}

void BpfTasks::deliver_exec(const WireExec& exec, TaskEvent event, TaskListener& listener) {
  if (exec.task.other != exec.task.tid) {
    TaskEvent gone = event;
    gone.kind = TaskEvent::Kind::kExit;
    gone.tid = exec.task.other;
    listener.on_task(gone);
  }
  const char* text = reinterpret_cast<const char*>(&exec + 1);
  event.kind = TaskEvent::Kind::kExec;
  event.exe = until_nul(text, exec.exe_bytes);
  event.args = {text + exec.exe_bytes, exec.args_bytes};
  listener.on_task(event);
}

int64_t BpfTasks::dropped() const {
  int64_t total = static_cast<int64_t>(programs_.counts->dropped);
  for (const int program : programs_.program_fds) {
    bpf_prog_info info{};
    uint32_t size = sizeof(info);
    if (bpf_obj_get_info_by_fd(program, &info, &size) != 0) continue;
    total += static_cast<int64_t>(info.recursion_misses);
  }
  return total;
}

int64_t BpfTasks::buffer_bytes() const {
  const int64_t scratch = sizeof(WireExecScratch);
  const int64_t pages = 2 * sysconf(_SC_PAGESIZE);  // .rodata and .bss
  return kWireTaskRingBytes + scratch * cpus_ + pages;
}

}  // namespace

Result<std::unique_ptr<TaskSource>> watch_tasks_by_bpf(int64_t root) {
  return BpfTasks::make(root);
}

Result<std::unique_ptr<TaskSource>> load_tasks_by_bpf() { return BpfTasks::make_for_later(); }

}  // namespace fathom
