// SPDX-License-Identifier: Apache-2.0
// The process tree as it is known: one row per process and thread that ever was, put together from
// task events, polls of /proc and the launcher's departures, and journalled again whenever more is
// known. Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "launch/launcher.h"
#include "probe/resources/running.h"
#include "probe/resources/task_source.h"
#include "record/records.h"
#include "sink/record_stream.h"

namespace fathom {

// Adds what is present in `more`; what is absent on both sides stays absent. Peaks take the larger.
void add_usage(TaskUsage& sum, const TaskUsage& more);

// Words with NULs between as a shell would take them.
std::string quoted_arguments(std::string_view separated_by_nul);

class ProcessTable final : public TaskListener {
 public:
  // Without a start the table is empty, and adopt() says who is there. `containers` are named by
  // their first process, whose children are in them, too; 0: all others.
  ProcessTable(RecordStream& out, int64_t root_pid, Maybe start_ns,
               std::map<int64_t, std::string> containers = {});

  // A process that ran before. Its figures are from now on; those of one that started after
  // `attach_ns` are all of them.
  void adopt(const RunningProcess& process, int64_t attach_ns);
  // The figures of a process that lives are from now on, whatever it used since it was adopted.
  void rebase(const RunningProcess& process);
  // The exact figures of a live process, for the last time: what its threads that ended told, and
  // what those that live had used when it was read, before the events told last. Only where all
  // exits are told.
  void settle(const RunningProcess& process);
  [[nodiscard]] bool knows(int64_t pid) const { return entries_.contains(pid); }
  // The first process of the container that this one is in; 0: no container, or the only one.
  [[nodiscard]] int64_t container_pid(int64_t pid) const;
  // The root, which waited until now, begins. With a name, it is the recorder's own program of that
  // name, and not listed or counted until it executes another.
  void begin_root(int64_t now_ns, std::string_view name = {});
  // How the root ended, into the run's row.
  void tell_end(Run& run) const;

  void on_task(const TaskEvent& event) override;
  // The latest look at a live process as a whole. Its I/O includes the children it has waited for.
  // `journal`: write the row with the next changes, so that a killed recorder leaves it.
  void polled(int64_t pid, const TaskUsage& look, bool journal);
  // It is no longer there, though nobody told of its end: the event was lost.
  void vanished(int64_t pid, int64_t time_ns);
  void departed(const Departure& departure);
  // Journals every row that changed since the last call.
  void write_changes();

  [[nodiscard]] std::vector<int64_t> live() const;
  // Those that ended since the last write_changes and told that they used this much.
  [[nodiscard]] std::vector<int64_t> just_ended(int64_t least_cpu_ns) const;
  [[nodiscard]] int64_t live_count() const {
    return live_count_ - (own_root_ && find(root_pid_)->alive ? 1 : 0);
  }
  [[nodiscard]] int64_t process_count() const { return process_count_ - (own_root_ ? 1 : 0); }
  [[nodiscard]] int64_t thread_count() const { return thread_count_ - (own_root_ ? 1 : 0); }
  // Sums over all processes; absent figures count as nothing, and are absent if every process lacks
  // them.
  [[nodiscard]] TaskUsage sum();
  // The same over those of a container, by its first process.
  [[nodiscard]] TaskUsage sum_of_container(int64_t pid);
  // Whether every process whose row is closed told its figures itself.
  [[nodiscard]] bool exact() const { return exact_; }

 private:
  // What a process had used when it was adopted.
  struct Adopted {
    int64_t time_ns = 0;
    std::optional<TaskUsage> look;  // absent: it started after we attached
    std::map<int64_t, TaskUsage> threads;
    Maybe seen_rss_bytes;  // the largest that a look saw

    void leave_out(const RunningProcess& process);
  };
  // A thread with its place among those that changed since the last call of write_changes: what
  // happened in between is one row.
  struct LiveThread {
    Thread row;
    int64_t round = -1;
    size_t at = 0;
  };
  struct Entry {
    // What is asked most stands where a look-up has just been.
    bool alive = true;
    bool has_children = false;
    bool starts_ranks = false;  // of an MPI job
    bool changed = false;
    bool told_at_exit = false;  // `ended` holds memory and I/O, not CPU time alone
    bool settled = false;       // alive, and `ended` is all it has used
    int64_t container_pid = 0;  // first process of its container
    Process row;
    std::map<int64_t, LiveThread> live_threads;
    TaskUsage ended;  // sum of the threads that have ended
    TaskUsage last_look;
    std::unique_ptr<Adopted> adopted;
  };

  void on_fork(const TaskEvent& event);
  void on_exec(Entry& entry, const TaskEvent& event);
  bool may_be_rank(const Entry& entry);
  void on_rename(Entry& entry, const TaskEvent& event);
  void on_exit(Entry& entry, const TaskEvent& event);
  void end(Entry& entry, int64_t time_ns);
  // Ends processes whose last exit was told but some thread's was lost.
  void end_overdue();
  void touch(Entry& entry);
  void touch(LiveThread& thread);
  // Writes the row of an ended process for good and forgets it: a run may have millions.
  void close(std::unordered_map<int64_t, Entry>::iterator ended);
  Entry* find(int64_t pid);
  [[nodiscard]] const Entry* find(int64_t pid) const;
  [[nodiscard]] bool is_listed(int64_t pid) const { return !own_root_ || pid != root_pid_; }
  Entry& add(int64_t pid, Maybe ppid, int64_t time_ns, StringId name);
  StringId container_of(int64_t pid, Maybe ppid);
  void add_thread(Entry& entry, int64_t tid, int64_t time_ns, StringId name);
  void fill(Entry& entry);
  static TaskUsage period_look(const Entry& entry);
  static Maybe period_peak(const Entry& entry, const TaskUsage& told);
  static TaskUsage period_usage(const Entry& entry, int64_t tid, const TaskUsage& used);
  void carry_over_ids(const Dictionary& from, Interner& to);

  RecordStream& out_;
  int64_t root_pid_;
  std::unordered_map<int64_t, Entry>
      entries_;  // by pid: live ones, and those that ended a moment ago
  std::map<int64_t, std::string> containers_;  // by the pid of their first process
  std::vector<int64_t> changed_;               // pids
  std::vector<int64_t> ended_, ended_before_;  // pids, since the last two calls of write_changes
  std::vector<std::pair<int64_t, int64_t>> ending_, ending_before_;  // pid and time, as ended_
  std::vector<Thread> changed_threads_;
  int64_t round_ = 0;  // calls of write_changes
  TaskUsage closed_sum_;
  std::map<int64_t, TaskUsage> closed_of_;  // the same by container
  bool exact_ = true;
  bool own_root_ = false;  // the root still is the recorder's own program
  int64_t live_count_ = 0, process_count_ = 0, thread_count_ = 0;
};

}  // namespace fathom
