// SPDX-License-Identifier: Apache-2.0
// Where news of the process tree comes from: every fork, exec and exit, also of children that live
// for less than a poll. One interface, a ladder of mechanisms: BPF tracepoints (exact figures at
// exit), perf_event task records (no privilege needed where perf_event_paranoid allows), polling
// /proc. A source belongs to one thread; it delivers only when drained, so it never wakes the
// recorder per event.
//
// What a listener may rely on: the root itself is not forked to it, all others are. A process ends
// when no thread of it is left: the last kExit says so, and others that came at the same moment
// may, too. When a thread other than the first calls exec, the kernel gives it the first one's id:
// its old id gets a kExit without usage (that comes later, under the new id), and the kExec says
// that the first thread's id lives.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/records.h"

namespace fathom {

// What one thread (or, where said, one process) has used. Absent: this source cannot tell.
struct TaskUsage {
  Maybe user_ns, system_ns, cpu_ns, wait_ns, minor_faults, major_faults;
  Maybe peak_rss_bytes;  // of the process, since its last exec; only with the kExit that ends it
  Maybe read_chars, written_chars, disk_read_bytes, disk_written_bytes;
  Maybe voluntary_switches, involuntary_switches;
  Maybe rss_bytes;  // at a look
};

struct TaskEvent {
  enum class Kind { kFork, kExec, kRename, kExit };
  Kind kind = Kind::kFork;
  int64_t time_ns = 0;  // CLOCK_MONOTONIC
  int64_t pid = 0;      // process (thread group)
  int64_t tid = 0;
  int64_t ppid = 0;            // kFork of a process: its parent; of a thread: its pid
  uint64_t pid_namespace = 0;  // kFork: the inode of its innermost; 0: not known
  int64_t inner_pid = 0;       // kFork: what they are called there
  int64_t inner_tid = 0;
  std::string_view name;             // command name, where known; valid during the call only
  std::string_view exe;              // kExec: path as the kernel was given it
  std::string_view args;             // kExec: arguments, NUL separated, cut at 4 KiB
  Maybe exit_code;                   // kExit: as wait(2) reports it, where known
  bool ends_process = false;         // kExit: no thread of the process is left
  const TaskUsage* usage = nullptr;  // kExit: of this thread alone
};

class TaskListener {
 public:
  virtual ~TaskListener() = default;
  virtual void on_task(const TaskEvent& event) = 0;
};

class TaskSource {
 public:
  virtual ~TaskSource() = default;
  [[nodiscard]] virtual const char* name() const = 0;

  // After load_tasks_by_bpf(): follows the tree below `root`.
  virtual Status follow(int64_t /*root*/) { return {}; }

  // Follows a process that runs already, with its threads and whoever they start from now on. The
  // listener is told of what it does, not of it. An id that is gone is no error.
  virtual Status adopt(int64_t pid) = 0;

  // Delivers what has happened since the last call, in order of time as far as the mechanism can
  // tell. An exit whose figures the kernel still writes comes with a later call.
  virtual void drain(TaskListener& listener) = 0;

  // Descriptors of its BPF programs.
  [[nodiscard]] virtual std::vector<int> bpf_programs() const { return {}; }
  [[nodiscard]] virtual int64_t seen() const = 0;
  [[nodiscard]] virtual int64_t dropped() const = 0;       // events known to be lost
  [[nodiscard]] virtual int64_t buffer_bytes() const = 0;  // rings and maps held in the kernel
};

// For `root`, beside the pid of a process: nobody until adopt() says whom; or all that runs on the
// host, which is adopt() for everybody.
constexpr int64_t kNobody = 0, kEverybody = -1;

// Each watches the tree below `root` (itself included), which has not yet run its first instruction
// of the target program: it waits before exec. All its threads and descendants are followed from
// then on.
Result<std::unique_ptr<TaskSource>> watch_tasks_by_bpf(int64_t root);
// The same for a process that is yet to be started, which follow() names.
Result<std::unique_ptr<TaskSource>> load_tasks_by_bpf();
Result<std::unique_ptr<TaskSource>> watch_tasks_by_perf(int64_t root);
Result<std::unique_ptr<TaskSource>> watch_tasks_by_proc(int64_t root);

}  // namespace fathom
