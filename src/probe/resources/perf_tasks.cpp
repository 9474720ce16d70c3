// SPDX-License-Identifier: Apache-2.0
// TaskSource by perf_event task records: any user may, where kernel.perf_event_paranoid is at
// most 2. Two events per CPU, inherited by every descendant; each fork clones them, so it costs
// more the more CPUs there are. One makes the kernel write FORK, COMM and EXIT. The other is a
// task-clock: after each EXIT comes one READ per CPU with the thread's CPU time there, up to that
// point: the last 0.1 ms of a task's life are not in it. Executables and arguments are read from
// /proc when drained: gone if the process is.
//
// READs have rings of their own. A task that ends writes those of all CPUs from the one it is on,
// and the kernel's rings bear one writing CPU only: now and then one falls silent for good. It
// costs the CPU time of a few tasks, then the rings are changed.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/perf_event.h"
#include "base/proc.h"
#include "base/proc_system.h"
#include "probe/resources/perf_rings.h"
#include "probe/resources/task_source.h"

namespace fathom {
namespace {

constexpr size_t kRingBytes = size_t{128} << 10;
constexpr size_t kReadRingBytes = size_t{64} << 10;
constexpr size_t kLeastRingBytes = size_t{8} << 10;

// What the kernel appends to every record: sample_type TID | TIME with sample_id_all.
struct SampleId {
  uint32_t pid, tid;
  uint64_t time_ns;
};
struct TaskRecord {  // FORK and EXIT
  perf_event_header header;
  uint32_t pid, ppid, tid, ptid;
  uint64_t time_ns;
};
struct CommRecord {
  perf_event_header header;
  uint32_t pid, tid;
  char name[1];
};
struct ReadRecord {
  perf_event_header header;
  uint32_t pid, tid;
  uint64_t value;
};
struct LostRecord {
  perf_event_header header;
  uint64_t id, lost;
};

struct Note {
  uint32_t type = 0;
  bool is_exec = false;
  bool waited = false;  // an EXIT that one drain has held back for its READs
  size_t reads = 0;
  int64_t time_ns = 0, pid = 0, tid = 0, ppid = 0;
  int64_t value = 0;  // task-clock: of a READ, or summed up for an EXIT
  std::array<char, 16> name{};

  [[nodiscard]] std::string_view name_view() const {
    return {name.data(), strnlen(name.data(), name.size())};
  }
};

struct Process {
  std::string name;
  std::vector<int64_t> threads;
};

perf_event_attr inherited_attr(uint64_t software_event) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = software_event;
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr.sample_id_all = 1;
  attr.inherit = 1;
  attr.exclude_kernel = 1;  // a user may not count the kernel; the clock runs there all the same
  attr.exclude_hv = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  return attr;
}

perf_event_attr news_attr() {
  perf_event_attr attr = inherited_attr(PERF_COUNT_SW_DUMMY);
  attr.task = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  return attr;
}

perf_event_attr clock_attr() {
  perf_event_attr attr = inherited_attr(PERF_COUNT_SW_TASK_CLOCK);
  attr.inherit_stat = 1;
  return attr;
}

class PerfTasks final : public TaskSource {
 public:
  static Result<std::unique_ptr<TaskSource>> make(int64_t root);

  [[nodiscard]] const char* name() const override { return "perf"; }
  Status adopt(int64_t pid) override;
  void drain(TaskListener& listener) override;
  [[nodiscard]] int64_t seen() const override { return seen_; }
  [[nodiscard]] int64_t dropped() const override { return dropped_; }
  [[nodiscard]] int64_t buffer_bytes() const override;

 private:
  // A clock of one task that no other has.
  struct OwnClock {
    Fd event;
    int64_t before_ns = 0;  // what the task had run when it was opened
  };

  Status make_rings();
  Status follow(int64_t tid);
  [[nodiscard]] bool follows(int64_t pid, int64_t tid) const;
  void take_rings();
  void renew_read_rings();
  void take_record(const perf_event_header& header);
  void join_reads();
  void take_own_clock(Note& exit);
  [[nodiscard]] bool must_wait(const Note& note, int64_t until_ns) const;
  void deliver(const Note& note, TaskListener& listener);
  void deliver_fork(const Note& note, TaskEvent event, TaskListener& listener);
  void deliver_comm(const Note& note, TaskEvent event, TaskListener& listener);
  void deliver_exit(const Note& note, TaskEvent event, TaskListener& listener);
  void emit(const TaskEvent& event, TaskListener& listener);

  std::unordered_map<int64_t, OwnClock> own_clocks_;  // by tid: of tasks that were not inherited
  std::vector<int> cpus_;
  std::optional<PerfRings> news_, reads_;
  std::vector<Fd> news_events_;  // of the tasks followed; inherited by those to come
  std::vector<Fd> clocks_;       // the same: one per CPU, in their order, for each task
  std::vector<Note> notes_;      // not yet delivered
  bool reads_missed_ = false;    // by an EXIT that was waited for
  std::unordered_map<int64_t, Process> live_;
  int64_t seen_ = 0;
  int64_t dropped_ = 0;
};

Result<std::unique_ptr<TaskSource>> PerfTasks::make(int64_t root) {
  if (root == kEverybody) {
    return Error{Code::kUnsupported, "an event in every thread of the host would cost too much"};
  }
  auto tasks = std::make_unique<PerfTasks>();
  TRY_ASSIGN(tasks->cpus_, online_cpus());
  if (root != kNobody) {
    TRY(tasks->follow(root));
    tasks->live_[root] = Process{read_proc_name(proc_folder(root)).value_or(""), {root}};
  }
  return std::unique_ptr<TaskSource>(std::move(tasks));
}

Status PerfTasks::make_rings() {
  if (news_) return {};
  TRY_ASSIGN(PerfRings news, PerfRings::make(cpus_, news_attr(), kRingBytes, kLeastRingBytes));
  TRY_ASSIGN(PerfRings reads,
             PerfRings::make(cpus_, clock_attr(), kReadRingBytes, kLeastRingBytes));
  news_ = std::move(news);
  reads_ = std::move(reads);
  return {};
}

Status PerfTasks::follow(int64_t tid) {
  TRY(make_rings());
  const auto pid = static_cast<pid_t>(tid);
  // An event of the task alone, for its own CPU time. It has a second effect that matters more: the
  // kernel may swap equal sets of events between a parent and a child at a switch, and whoever
  // exits with the parent's set has no READ. With this event the sets are never equal.
  perf_event_attr own = clock_attr();
  own.inherit = own.inherit_stat = 0;
  TRY_ASSIGN(Fd clock, open_perf_event(own, pid, -1));
  const auto before = read_proc_schedstat(proc_folder(tid));
  own_clocks_[tid] = {std::move(clock), before.ok() ? before.value().run_ns : 0};
  std::vector<Fd> news, clocks;
  for (size_t at = 0; at < cpus_.size(); ++at) {
    TRY_ASSIGN(Fd event, open_perf_event(news_attr(), pid, cpus_[at]));
    TRY(news_->take(event, at));
    news.push_back(std::move(event));
    TRY_ASSIGN(event, open_perf_event(clock_attr(), pid, cpus_[at]));
    TRY(reads_->take(event, at));
    clocks.push_back(std::move(event));
  }
  std::move(news.begin(), news.end(), std::back_inserter(news_events_));
  std::move(clocks.begin(), clocks.end(), std::back_inserter(clocks_));
  return {};
}

// Also by inheritance, which a fork not yet delivered tells.
bool PerfTasks::follows(int64_t pid, int64_t tid) const {
  const auto process = live_.find(pid);
  const auto is_it = [tid](const auto& note) {
    return note.type == PERF_RECORD_FORK && note.tid == tid;
  };
  return (process != live_.end() &&
          std::find(process->second.threads.begin(), process->second.threads.end(), tid) !=
              process->second.threads.end()) ||
         std::any_of(notes_.begin(), notes_.end(), is_it);
}

// Threads may be started meanwhile, by ones that are followed already or by ones that are not yet:
// until nobody new is found.
Status PerfTasks::adopt(int64_t pid) {
  for (bool found = true; found;) {
    found = false;
    take_rings();
    for (const int64_t tid : list_ids(proc_folder(pid) + "/task").value_or({})) {
      if (follows(pid, tid)) continue;
      if (Status followed = follow(tid); !followed.ok()) {
        own_clocks_.erase(tid);
        if (access(proc_folder(pid, tid).c_str(), F_OK) != 0) continue;  // it has ended
        return followed;
      }
      Process& process = live_[pid];
      process.name = read_proc_name(proc_folder(pid)).value_or("");
      process.threads.push_back(tid);
      found = true;
    }
  }
  return {};
}

void PerfTasks::take_record(const perf_event_header& header) {
  Note note;
  note.type = header.type;
  SampleId id{};
  std::memcpy(&id, reinterpret_cast<const char*>(&header) + header.size - sizeof(id), sizeof(id));
  note.time_ns = static_cast<int64_t>(id.time_ns);
  if (header.type == PERF_RECORD_FORK || header.type == PERF_RECORD_EXIT) {
    const auto& record = reinterpret_cast<const TaskRecord&>(header);
    note.pid = record.pid;
    note.tid = record.tid;
    note.ppid = record.ppid;
    note.time_ns = static_cast<int64_t>(record.time_ns);
  } else if (header.type == PERF_RECORD_COMM) {
    const auto& record = reinterpret_cast<const CommRecord&>(header);
    note.pid = record.pid;
    note.tid = record.tid;
    note.is_exec = (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
    const size_t room = header.size - offsetof(CommRecord, name) - sizeof(SampleId);
    std::memcpy(note.name.data(), record.name, std::min(room, note.name.size() - 1));
  } else if (header.type == PERF_RECORD_READ) {
    const auto& record = reinterpret_cast<const ReadRecord&>(header);
    note.pid = record.pid;
    note.tid = record.tid;
    note.value = static_cast<int64_t>(record.value);
  } else {
    if (header.type == PERF_RECORD_LOST) {
      dropped_ += static_cast<int64_t>(reinterpret_cast<const LostRecord&>(header).lost);
    }
    return;
  }
  notes_.push_back(note);
}

void PerfTasks::take_rings() {
  if (!news_) return;
  news_->drain([this](const perf_event_header& header) { take_record(header); });
  reads_->drain([this](const perf_event_header& header) {
    if (header.type == PERF_RECORD_READ) take_record(header);
  });
}

// Where one cannot be made, CPU times stay unknown: the next drain tries again.
void PerfTasks::renew_read_rings() {
  auto fresh = PerfRings::make(cpus_, clock_attr(), kReadRingBytes, kLeastRingBytes);
  if (!fresh.ok()) return;
  for (size_t at = 0; at < clocks_.size(); ++at)
    if (!fresh.value().take(clocks_[at], at % cpus_.size()).ok()) return;
  reads_ = std::move(fresh.value());
  reads_missed_ = false;
}

// READs stand next to their EXIT in time, a little before or after, one on every CPU's ring. They
// are added to it and go; one whose EXIT is still to come stays for a drain.
void PerfTasks::join_reads() {
  std::unordered_map<int64_t, Note*> exits;
  std::unordered_multimap<int64_t, Note*> early;
  const auto join = [](Note& exit, Note& read) {
    exit.value += read.value;
    ++exit.reads;
    read.reads = 1;  // used
  };
  for (Note& note : notes_) {
    if (note.type == PERF_RECORD_EXIT) {
      exits[note.tid] = &note;
      take_own_clock(note);
      for (auto [read, end] = early.equal_range(note.tid); read != end; ++read)
        join(note, *read->second);
      early.erase(note.tid);
    } else if (note.type == PERF_RECORD_READ) {
      const auto exit = exits.find(note.tid);
      if (exit != exits.end() && exit->second->reads < cpus_.size()) {
        join(*exit->second, note);
      } else {
        early.emplace(note.tid, &note);
      }
    }
  }
  std::erase_if(notes_, [](const Note& note) {
    return note.type == PERF_RECORD_READ && (note.reads != 0 || note.waited);
  });
}

// The events opened here die with their task and give no READ.
void PerfTasks::take_own_clock(Note& exit) {
  const auto clock = own_clocks_.find(exit.tid);
  if (clock == own_clocks_.end()) return;
  uint64_t value = 0;
  if (read(clock->second.event.get(), &value, sizeof(value)) == sizeof(value)) {
    exit.value = static_cast<int64_t>(value) + clock->second.before_ns;
    exit.reads = cpus_.size();
  }
  own_clocks_.erase(clock);  // after an exec, another task may have its id
}

// What lies beyond `until_ns` may have something earlier still to come on a ring already read.
bool PerfTasks::must_wait(const Note& note, int64_t until_ns) const {
  if (note.time_ns > until_ns) return true;
  if (note.type == PERF_RECORD_READ) return false;  // passed over, not delivered
  return note.type == PERF_RECORD_EXIT && note.reads < cpus_.size() && !note.waited;
}

void PerfTasks::drain(TaskListener& listener) {
  const int64_t until_ns = monotonic_ns();
  take_rings();
  std::stable_sort(notes_.begin(), notes_.end(),
                   [](const Note& a, const Note& b) { return a.time_ns < b.time_ns; });
  join_reads();
  // In order of time: the first that must wait holds back what comes after it, for one drain.
  auto note = notes_.begin();
  std::vector<Note> early_reads;
  for (; note != notes_.end() && !must_wait(*note, until_ns); ++note) {
    if (note->type == PERF_RECORD_READ) {
      early_reads.push_back(*note);
    } else {
      deliver(*note, listener);
    }
  }
  notes_.erase(notes_.begin(), note);
  notes_.insert(notes_.begin(), early_reads.begin(), early_reads.end());
  for (Note& held : notes_) held.waited = held.time_ns <= until_ns;
  if (reads_missed_) renew_read_rings();
}

void PerfTasks::emit(const TaskEvent& event, TaskListener& listener) {
  ++seen_;
  listener.on_task(event);
}

void PerfTasks::deliver(const Note& note, TaskListener& listener) {
  TaskEvent event;
  event.time_ns = note.time_ns;
  event.pid = note.pid;
  event.tid = note.tid;
  if (note.type == PERF_RECORD_FORK) return deliver_fork(note, event, listener);
  if (note.type == PERF_RECORD_COMM) return deliver_comm(note, event, listener);
  return deliver_exit(note, event, listener);
}

void PerfTasks::deliver_fork(const Note& note, TaskEvent event, TaskListener& listener) {
  event.kind = TaskEvent::Kind::kFork;
  event.ppid = note.ppid;
  if (note.pid != note.ppid) live_[note.pid] = Process{live_[note.ppid].name, {}};
  Process& process = live_[note.pid];
  process.threads.push_back(note.tid);
  event.name = process.name;
  emit(event, listener);
}

void PerfTasks::deliver_comm(const Note& note, TaskEvent event, TaskListener& listener) {
  event.name = note.name_view();
  event.kind = TaskEvent::Kind::kRename;
  Process& process = live_[note.pid];
  if (note.tid == note.pid) process.name = event.name;
  if (!note.is_exec) return emit(event, listener);

  // Only the thread that called exec lives on, as the first one.
  for (const int64_t tid : process.threads) {
    if (tid == note.pid) continue;
    TaskEvent gone = event;
    gone.kind = TaskEvent::Kind::kExit;
    gone.tid = tid;
    emit(gone, listener);
  }
  process.threads = {note.pid};
  event.kind = TaskEvent::Kind::kExec;
  const std::string folder = proc_folder(note.pid);
  std::string args, exe;
  if (read_proc_name(folder).value_or("") ==
      event.name) {  // else it is over, or already another program
    args = read_proc_args(folder).value_or("");
    exe = read_proc_exe(folder).value_or("");
  }
  event.args = args;
  event.exe = exe;
  emit(event, listener);
}

void PerfTasks::deliver_exit(const Note& note, TaskEvent event, TaskListener& listener) {
  event.kind = TaskEvent::Kind::kExit;
  TaskUsage usage;
  if (note.reads == cpus_.size()) {
    usage.cpu_ns = note.value;
  } else {  // a part of it would be a wrong figure
    reads_missed_ = true;
  }
  event.usage = &usage;
  Process& process = live_[note.pid];
  event.name = process.name;
  std::erase(process.threads, note.tid);
  event.ends_process = process.threads.empty();
  emit(event, listener);
  if (event.ends_process) live_.erase(note.pid);
}

int64_t PerfTasks::buffer_bytes() const { return news_ ? news_->bytes() + reads_->bytes() : 0; }

}  // namespace

Result<std::unique_ptr<TaskSource>> watch_tasks_by_perf(int64_t root) {
  return PerfTasks::make(root);
}

}  // namespace fathom
