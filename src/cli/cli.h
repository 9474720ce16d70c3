// SPDX-License-Identifier: Apache-2.0
// The edge: takes the command line, runs the command, logs the error that comes back. Called once
// by main.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cli/command.h"

namespace fathom {

// Returns the exit status: 0, the command's own, 1 for a failure, 2 for a wrong command line; 125
// for either where the command's own is a program's.
int run_command_line(CommandTable commands, int argc, const char* const* argv);

// Results go to stdout; a full disk or a closed pipe there is a failure like any other.
Status print_out(std::string_view text);
// The same for data of programs to read: a terminal gets control characters made visible.
Status print_data_out(std::string_view text);

}  // namespace fathom
