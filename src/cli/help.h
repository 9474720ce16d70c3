// SPDX-License-Identifier: Apache-2.0
// --help in 80 columns, made from the commands' data. No state: any thread.
#pragma once

#include <string>

#include "cli/command.h"

namespace fathom {

// The list of commands.
std::string overview_help(CommandTable commands, bool colours);
std::string command_help(const Command& command, bool colours);

}  // namespace fathom
