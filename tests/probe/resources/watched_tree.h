// SPDX-License-Identifier: Apache-2.0
// Runs a program under a TaskSource and keeps all that was told. The root waits on a pipe until the
// source is attached, as the launcher's does. One thread.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "probe/resources/task_source.h"

namespace fathom::fixtures {

struct Told {
  TaskEvent::Kind kind;
  int64_t time_ns, pid, tid, ppid;
  uint64_t pid_namespace;
  int64_t inner_pid, inner_tid;
  std::string name, exe, args;
  Maybe exit_code;
  bool ends_process;
  bool has_usage;
  TaskUsage usage;
  int drain;  // the how manyth told it
};

struct WatchedTree {
  std::string error;  // why the source could not start; the rest is empty then
  Error cause;
  int64_t root = 0;
  int status = 0;
  rusage used{};
  int64_t stolen_ns = 0;  // at most, by the host of this machine
  int64_t seen = 0, dropped = 0, buffer_bytes = 0;
  std::vector<Told> events;

  [[nodiscard]] std::vector<Told> of(TaskEvent::Kind kind) const;
  [[nodiscard]] std::vector<Told> processes_ended() const;
};

using Watch = std::function<Result<std::unique_ptr<TaskSource>>(int64_t root)>;

// Looks at the tree every now and then until it is over. The workload task_tree lives until it has
// been looked at; what another command reads from its standard input ends when `enough` is told.
WatchedTree watch_tree(const Watch& watch, const std::vector<std::string>& command,
                       const std::function<bool(const WatchedTree&)>& enough = {});

// The program built from tests/workloads/task_tree.cpp.
std::string task_tree_program();

}  // namespace fathom::fixtures
