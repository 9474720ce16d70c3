// SPDX-License-Identifier: Apache-2.0
// A process that ran before anybody watched it, as /proc shows it now: what it has used so far is
// what later figures are taken less. Any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probe/resources/task_source.h"

namespace fathom {

struct RunningThread {
  int64_t tid = 0, start_ns = 0;
  std::string name;
  TaskUsage used;  // as a source tells it at exit
};

struct RunningProcess {
  int64_t pid = 0, ppid = 0, start_ns = 0;
  std::string name, exe, args;
  std::vector<RunningThread> threads;
  TaskUsage used;  // as a look sees it: with threads that ended and, for I/O, children waited for
};

// Nothing if it is gone or a zombie. A figure of a thread that runs at this moment may lack what it
// used since the kernel's last tick.
std::optional<RunningProcess> read_running(int64_t pid);

// Whether a thread of it is left that has not ended.
bool is_running(int64_t pid);

// What was used since `before`; a figure that only one side has stays absent, peaks stay.
TaskUsage since(const TaskUsage& now, const TaskUsage& before);

}  // namespace fathom
