// SPDX-License-Identifier: Apache-2.0
// What a hub says of a job, for people: lines of at most 80 columns, with nothing in them that
// moves a terminal. Pure functions: any thread.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom {

// The job, then a line a run: `job` and `runs` as the hub gives them.
Result<std::string> job_text(const std::string& job, const std::string& runs);

// One line of an event of a job; what cannot be read is given as it is, cut.
std::string event_line(const std::string& json);

}  // namespace fathom
