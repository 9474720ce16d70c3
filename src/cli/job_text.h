// SPDX-License-Identifier: Apache-2.0
// What a hub sends about a job, for people: lines that fit a terminal and are complete in files and
// pipes, with nothing in them that moves a terminal. Any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/terminal.h"

namespace fathom {

// The job, then a line a run: `job` and `runs` as the hub gives them.
Result<std::string> job_text(const std::string& job, const std::string& runs,
                             size_t columns = output_columns());

// One line of an event of a job; what cannot be read is given as it is, cut.
std::string event_line(const std::string& json, size_t columns = output_columns());

}  // namespace fathom
