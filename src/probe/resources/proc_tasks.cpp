// SPDX-License-Identifier: Apache-2.0
// TaskSource by polling /proc: works for everybody, sees what is there when drained. A task that
// lives between two drains is not seen and not counted as dropped, for nobody knows of it: the
// launcher's wait has the totals. So is a child whose parent ended before the child was seen. An
// exec is seen if the program's path or arguments change. The figures of an exit are the last ones
// seen; those of a zombie are final.
#include <unistd.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/proc.h"
#include "probe/resources/task_source.h"

namespace fathom {
namespace {

struct Task {
  int64_t pid = 0;
  int64_t start_ticks = 0;
  std::string name;      // as told
  std::string name_now;  // as seen
  TaskUsage usage;
  int64_t round = 0;   // of the drain that saw it last
  bool ended = false;  // told, but still there as a zombie
};

struct Process {
  std::string exe, args;
  int64_t live_threads = 0;
  int64_t round = 0;
  int64_t exec_round = 0;
  Maybe peak_rss_bytes;
};

// A TaskEvent that owns its strings until all of a drain are in order.
struct News {
  TaskEvent event;
  std::string name, exe, args;
  TaskUsage usage;
};

bool is_over(char state) { return state == 'Z' || state == 'X'; }

class ProcTasks final : public TaskSource {
 public:
  static Result<std::unique_ptr<TaskSource>> make(int64_t root);

  [[nodiscard]] const char* name() const override { return "proc"; }
  Status adopt(int64_t pid) override;
  void drain(TaskListener& listener) override;
  [[nodiscard]] int64_t seen() const override { return seen_; }
  [[nodiscard]] int64_t dropped() const override { return 0; }
  [[nodiscard]] int64_t buffer_bytes() const override { return 0; }

 private:
  void visit_process(int64_t pid, int64_t ppid);
  void visit_thread(int64_t pid, int64_t tid, int64_t ppid);
  void visit_children(int64_t pid, int64_t tid);
  void note_program(int64_t pid, int64_t ppid, bool is_new);
  void note_name(int64_t tid);
  void scan_parents();
  void sweep();

  void add_task(int64_t pid, int64_t tid, int64_t ppid, const ProcStat& stat);
  void end_task(int64_t tid, Task& task);
  News& tell(TaskEvent::Kind kind, int64_t pid, int64_t tid, int64_t time_ns,
             std::string_view name);

  std::unordered_map<int64_t, Task> tasks_;  // by tid
  std::unordered_map<int64_t, Process> processes_;
  std::unordered_map<int64_t, std::vector<int64_t>>
      scanned_;  // parent -> children, where the kernel has no list
  std::vector<News> news_;
  bool has_child_lists_ = true;
  int64_t round_ = 0;
  int64_t now_ns_ = 0;
  int64_t boot_offset_ns_ = 0;
  int64_t seen_ = 0;
};

Result<std::unique_ptr<TaskSource>> ProcTasks::make(int64_t root) {
  auto tasks = std::make_unique<ProcTasks>();
  const auto children = read_proc_children(proc_folder(getpid(), getpid()));
  tasks->has_child_lists_ = children.ok() || children.error().code != Code::kUnsupported;
  if (root > 0) {
    if (const auto stat = read_proc_stat(proc_folder(root)); !stat.ok()) return stat.error();
    TRY(tasks->adopt(root));
  }
  return std::unique_ptr<TaskSource>(std::move(tasks));
}

Status ProcTasks::adopt(int64_t pid) {
  if (processes_.contains(pid)) return {};
  Process process;
  for (const int64_t tid : list_ids(proc_folder(pid) + "/task").value_or({})) {
    const auto stat = read_proc_stat(proc_folder(pid, tid));
    if (!stat.ok() || is_over(stat.value().state)) continue;
    const ProcStat& now = stat.value();
    tasks_[tid] = Task{pid, now.start_ticks, now.name, now.name, {}, round_, false};
    ++process.live_threads;
  }
  if (process.live_threads == 0) return {};
  process.exe = read_proc_exe(proc_folder(pid)).value_or("");
  process.args = read_proc_args(proc_folder(pid)).value_or("");
  process.round = round_;
  processes_[pid] = process;
  return {};
}

void ProcTasks::drain(TaskListener& listener) {
  ++round_;
  now_ns_ = monotonic_ns();
  boot_offset_ns_ = boot_to_monotonic_ns();
  news_.clear();
  if (!has_child_lists_) scan_parents();
  std::vector<int64_t> known;
  for (const auto& [pid, process] : processes_) known.push_back(pid);
  for (const int64_t pid : known) visit_process(pid, 0);
  sweep();

  std::stable_sort(news_.begin(), news_.end(),
                   [](const News& a, const News& b) { return a.event.time_ns < b.event.time_ns; });
  for (News& news : news_) {
    news.event.name = news.name;
    news.event.exe = news.exe;
    news.event.args = news.args;
    if (news.event.kind == TaskEvent::Kind::kExit) news.event.usage = &news.usage;
    listener.on_task(news.event);
  }
  seen_ += static_cast<int64_t>(news_.size());
}

void ProcTasks::visit_process(int64_t pid, int64_t ppid) {
  const auto known = processes_.find(pid);
  const bool is_new = known == processes_.end();
  if (pid == getpid() || (!is_new && known->second.round == round_)) return;
  const auto threads = list_ids(proc_folder(pid) + "/task");
  if (!threads.ok()) return;  // gone: the sweep tells
  processes_[pid].round = round_;
  for (const int64_t tid : threads.value()) visit_thread(pid, tid, ppid);
  note_program(pid, ppid, is_new);
  for (const int64_t tid : threads.value()) {
    note_name(tid);
    visit_children(pid, tid);
  }
}

void ProcTasks::visit_thread(int64_t pid, int64_t tid, int64_t ppid) {
  const std::string folder = proc_folder(pid, tid);
  const auto stat = read_proc_stat(folder);
  if (!stat.ok()) return;
  auto found = tasks_.find(tid);
  if (found != tasks_.end() &&
      found->second.start_ticks != stat.value().start_ticks) {  // the id is used again
    end_task(tid, found->second);
    tasks_.erase(found);
    found = tasks_.end();
  }
  if (found == tasks_.end()) {
    add_task(pid, tid, ppid, stat.value());
    found = tasks_.find(tid);
  }
  Task& task = found->second;
  task.round = round_;
  task.name_now = stat.value().name;
  task.usage.user_ns = stat.value().user_ns;
  task.usage.system_ns = stat.value().system_ns;
  task.usage.minor_faults = stat.value().minor_faults;
  task.usage.major_faults = stat.value().major_faults;
  if (const auto schedstat = read_proc_schedstat(folder); schedstat.ok()) {
    task.usage.cpu_ns = schedstat.value().run_ns;
    task.usage.wait_ns = schedstat.value().wait_ns;
  }
  if (is_over(stat.value().state)) return end_task(tid, task);
  if (!task.ended) return;
  task.ended = false;  // an exec by another thread, which took over the dead first one's id
  ++processes_[pid].live_threads;
}

void ProcTasks::visit_children(int64_t pid, int64_t tid) {
  if (!has_child_lists_) {
    if (tid != pid) return;
    for (const int64_t child : scanned_[pid]) visit_process(child, pid);
    return;
  }
  const auto children = read_proc_children(proc_folder(pid, tid));
  if (!children.ok()) return;
  for (const int64_t child : children.value()) visit_process(child, pid);
}

void ProcTasks::scan_parents() {
  scanned_.clear();
  const auto pids = list_ids("/proc");
  if (!pids.ok()) return;
  for (const int64_t pid : pids.value()) {
    const auto stat = read_proc_stat(proc_folder(pid));
    if (stat.ok()) scanned_[stat.value().ppid].push_back(pid);
  }
}

// A new process starts with its parent's program; what differs from that, or from last time, is an
// exec.
void ProcTasks::note_program(int64_t pid, int64_t ppid, bool is_new) {
  const std::string folder = proc_folder(pid);
  const auto first = tasks_.find(pid);
  const std::string exe = read_proc_exe(folder).value_or("");
  const auto args = read_proc_args(folder);
  if (first == tasks_.end() || !args.ok() || args.value().empty()) return;  // it is ending
  if (read_proc_exe(folder).value_or("") != exe) return;  // in an exec: seen whole next time
  Process& process = processes_[pid];
  if (is_new) {
    if (const auto parent = processes_.find(ppid); parent != processes_.end()) {
      process.exe = parent->second.exe;
      process.args = parent->second.args;
    }
  }
  if (const auto status = read_proc_status(folder); status.ok()) {
    process.peak_rss_bytes = status.value().peak_rss_bytes;
  }
  if (exe == process.exe && args.value() == process.args) return;
  process.exec_round = round_;
  first->second.name = first->second.name_now;
  News& news = tell(TaskEvent::Kind::kExec, pid, pid, now_ns_, first->second.name);
  news.exe = process.exe = exe;
  news.args = process.args = args.value();
}

void ProcTasks::note_name(int64_t tid) {
  const auto found = tasks_.find(tid);
  if (found == tasks_.end() || found->second.ended) return;
  Task& task = found->second;
  if (task.name == task.name_now) return;
  task.name = task.name_now;
  tell(TaskEvent::Kind::kRename, task.pid, tid, now_ns_, task.name);
}

void ProcTasks::sweep() {
  std::vector<int64_t> gone;
  for (auto& [tid, task] : tasks_) {
    if (task.round == round_) continue;
    end_task(tid, task);
    gone.push_back(tid);
  }
  for (const int64_t tid : gone) tasks_.erase(tid);
  std::erase_if(processes_, [this](const auto& process) { return process.second.round != round_; });
}

void ProcTasks::add_task(int64_t pid, int64_t tid, int64_t ppid, const ProcStat& stat) {
  const int64_t start_ns = std::min(ticks_to_ns(stat.start_ticks) + boot_offset_ns_, now_ns_);
  tell(TaskEvent::Kind::kFork, pid, tid, start_ns, stat.name).event.ppid = tid == pid ? ppid : pid;
  tasks_[tid] = Task{pid, stat.start_ticks, stat.name, stat.name, {}, round_, false};
  ++processes_[pid].live_threads;
}

void ProcTasks::end_task(int64_t tid, Task& task) {
  if (task.ended) return;
  task.ended = true;
  Process& process = processes_[task.pid];
  News& news = tell(TaskEvent::Kind::kExit, task.pid, tid, now_ns_, task.name);
  // One of the threads that an exec ended may be the one that lives on as the first: its figures go
  // with it.
  if (tid == task.pid || process.exec_round != round_) news.usage = task.usage;
  news.event.ends_process = --process.live_threads <= 0;
  if (news.event.ends_process) news.usage.peak_rss_bytes = process.peak_rss_bytes;
}

News& ProcTasks::tell(TaskEvent::Kind kind, int64_t pid, int64_t tid, int64_t time_ns,
                      std::string_view name) {
  News& news = news_.emplace_back();
  news.event.kind = kind;
  news.event.pid = pid;
  news.event.tid = tid;
  news.event.time_ns = time_ns;
  news.name = name;
  return news;
}

}  // namespace

Result<std::unique_ptr<TaskSource>> watch_tasks_by_proc(int64_t root) {
  return ProcTasks::make(root);
}

}  // namespace fathom
