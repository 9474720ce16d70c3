// SPDX-License-Identifier: Apache-2.0
// Looks at every live process of the tree through /proc, and adds up the tree. A process's own
// figures in /proc include the children it has waited for (I/O always, CPU time as separate
// fields), which is what makes the tree's sum exact.
// Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/proc.h"
#include "base/reread.h"
#include "launch/launcher.h"
#include "probe/resources/process_table.h"

namespace fathom {

struct TreeFigures {
  int64_t rss_bytes = 0;
  Maybe pss_bytes, fds;
  int64_t threads = 0;
  // Since the start, of all that is and was; never falling.
  int64_t user_ns = 0, system_ns = 0, minor_faults = 0, major_faults = 0;
  // Of processes the launcher reaped, with those they had waited for.
  int64_t voluntary_switches = 0, involuntary_switches = 0;
  Maybe largest_rss_bytes;  // of one process
  Maybe read_chars, written_chars, disk_read_bytes, disk_written_bytes;
};

struct TreePollWants {
  bool peaks = false;   // at every look, not at thorough ones alone
  bool pss = true;      // costs most: many pages, and all processes of a host have many
  bool orphans = true;  // somebody here reaps them and tells; else what they used last is kept
};

class TreePoll {
 public:
  explicit TreePoll(const TreePollWants& wants) : wants_(wants) {}

  // Leaves out what this process, with the children it has waited for, has used so far.
  void adopt(int64_t pid);
  // Before the first look: nothing is left out, until adopt() says of whom.
  void leave_out_anew() { before_ = {}; }

  // `thorough` also reads what costs more: peaks, waiting times, open files and proportional
  // memory.
  const TreeFigures& look(ProcessTable& table, bool thorough);
  void departed(const Departure& departure);
  [[nodiscard]] const TreeFigures& figures() const { return figures_; }

 private:
  struct Seen {
    RereadFile stat_file, io_file;
    int misses = 0;  // looks in a row that found nothing
    int64_t ppid = 0;
    TreeFigures last;  // what it added to the tree
    bool alive = false;
  };
  Seen& seen(int64_t pid, const std::string& folder);
  void look_at(int64_t pid, ProcessTable& table, bool thorough, TreeFigures& sum);
  static void look_thoroughly(const std::string& folder, TaskUsage& look, TreeFigures& sum);
  void forget_the_dead();
  void raise(const TreeFigures& sum);

  TreePollWants wants_;
  TreeFigures departed_;  // of processes the launcher reaped, or whose parent is not of the tree
  TreeFigures before_;    // what those that were adopted had used
  TreeFigures figures_;
  std::unordered_map<int64_t, Seen> seen_;
  int64_t pss_not_before_ns_ = 0;
};

}  // namespace fathom
