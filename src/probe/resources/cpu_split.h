// SPDX-License-Identifier: Apache-2.0
// One split of CPU time into user and system for a run and its processes. Pure function: any
// thread.
#pragma once

#include <cstdint>

#include "probe/resources/task_source.h"
#include "record/records.h"

namespace fathom {

// The total, which is exact, into the run's row: in the parts that its processes told, or in their
// ratio where the total is not their sum. Without parts the row stays as it is.
void split_as_processes(int64_t total_ns, const TaskUsage& told, Run& run);

}  // namespace fathom
