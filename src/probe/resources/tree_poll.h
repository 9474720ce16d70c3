// SPDX-License-Identifier: Apache-2.0
// Looks at every live process of the tree through /proc, and adds up the tree. A process's own
// figures in /proc include the children it has waited for (I/O always, CPU time as separate
// fields), which is what makes the tree's sum exact.
// Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/proc.h"
#include "base/reread.h"
#include "launch/launcher.h"
#include "probe/resources/gauge_writer.h"
#include "probe/resources/process_table.h"

namespace fathom {

struct TreeFigures {
  int64_t rss_bytes = 0;
  Maybe pss_bytes, fds;
  int64_t threads = 0;
  // Since the start, of all that is and was; never falling.
  int64_t user_ns = 0, system_ns = 0, minor_faults = 0, major_faults = 0;
  int64_t cpu_ns = 0;  // by the clocks of processes, finer than the ticks of user_ns and system_ns
  // Of processes the launcher reaped, with those they had waited for.
  int64_t voluntary_switches = 0, involuntary_switches = 0;
  Maybe largest_rss_bytes;  // of one process
  Maybe read_chars, written_chars, disk_read_bytes, disk_written_bytes;
};

// Only its I/O.
TreeFigures io_of(const TaskUsage& usage);
void write_figures(GaugeWriter& gauges, const TreeFigures& tree, int64_t processes);
void write_io(GaugeWriter& gauges, const TreeFigures& tree);

struct TreePollWants {
  bool peaks = false;   // at every look, not at thorough ones alone: nobody tells them at the end
  bool pss = true;      // costs most: many pages, and all processes of a host have many
  bool many = false;    // containers: a look at their proportional memory takes long
  bool orphans = true;  // somebody here reaps them and tells; else what they used last is kept
};

class TreePoll {
 public:
  explicit TreePoll(const TreePollWants& wants) : wants_(wants) {}

  // Leaves out what this process, with the children it has waited for, has used so far. `container`
  // is the first process of its container (ProcessTable::container_pid).
  void adopt(int64_t pid, int64_t container);
  // Before the first look: nothing is left out, until adopt() says of whom.
  void leave_out_anew() {
    before_ = {};
    for (auto& [pid, container] : containers_) container.before = {};
  }

  // `thorough` also reads what costs more: peaks, waiting times, open files and proportional
  // memory. Peaks, switches and waiting times are the rows' of processes that live: where those are
  // told at the end, every tenth look of each process will do, its first and the last.
  const TreeFigures& look(ProcessTable& table, bool thorough, bool last = false);
  void departed(const Departure& departure);
  // What processes reported as they ended, where all of them did: no poll sees the last of it.
  const TreeFigures& reported(const TaskUsage& usage);
  [[nodiscard]] const TreeFigures& figures() const { return figures_; }
  // Of a container, by its first process: I/O of its processes. All others are absent or 0.
  [[nodiscard]] TreeFigures io_of_container(int64_t pid) const;
  // The middle of the last look.
  [[nodiscard]] int64_t cpu_time_ns() const { return cpu_time_ns_; }

 private:
  struct Seen {
    RereadFile stat_file, io_file, ran_file, status_file;
    Fd fds_folder;
    int misses = 0;  // looks in a row that found nothing
    int64_t ppid = 0, container = 0;
    TreeFigures last;  // what it added to the tree
    bool alive = false;
    bool io_hidden = false;  // /proc/PID/io cannot be read
    // Its schedstat at the last whole look; of several threads it says nothing.
    int64_t ran = -1;
    Maybe waited;
    int64_t awake = 0;      // looks in a row that found that it had run
    bool has_row = false;   // its peak and switches were read
    bool thorough = false;  // that look was
  };
  bool has_slept(int64_t pid, Seen& seen, bool thorough);
  Seen& seen(int64_t pid, const std::string& folder);
  void look_at(int64_t pid, ProcessTable& table, bool thorough, TreeFigures& sum);
  void look_at_zombies(const ProcessTable& table, TreeFigures& sum);
  void look_thoroughly(int64_t pid, const std::string& folder, Seen& seen, TaskUsage& look) const;
  [[nodiscard]] bool row_is_due(int64_t pid) const;
  static void look_for_row(const std::string& folder, Seen& seen, TaskUsage& look);
  void forget_the_dead();
  void sum_containers();
  void raise(const TreeFigures& sum);

  struct Container {
    TreeFigures figures, before, departed;  // as below, I/O only
  };
  TreePollWants wants_;
  TreeFigures departed_;  // of processes the launcher reaped, or whose parent is not of the tree
  TreeFigures before_;    // what those that were adopted had used
  TreeFigures figures_;
  std::unordered_map<int64_t, Seen> seen_;
  std::map<int64_t, Container> containers_;  // by their first process
  int64_t pss_not_before_ns_ = 0, cpu_time_ns_ = 0;
  int64_t looks_ = 0, thorough_looks_ = 0;
  bool last_ = false;
};

}  // namespace fathom
