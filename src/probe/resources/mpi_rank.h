// SPDX-License-Identifier: Apache-2.0
// Which rank of an MPI job a process is, as whoever started it says in its environment. Any thread.
#pragma once

#include <string_view>

#include "record/records.h"

namespace fathom {

// Whether a process of this name (/proc/PID/comm) starts ranks: mpirun, srun, a daemon of theirs.
bool starts_ranks(std::string_view process_name);
// Nothing: it is no rank, has ended, or may not be read.
Maybe mpi_rank_of(int64_t pid);
// The same of an environment as /proc/PID/environ has it.
Maybe mpi_rank_in(std::string_view environment);

}  // namespace fathom
