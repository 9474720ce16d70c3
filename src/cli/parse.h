// SPDX-License-Identifier: Apache-2.0
// From argv to Arguments. The only file that knows CLI11; it is driven by the commands' data, and
// every message the user sees is ours. No state: any thread.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/command.h"

namespace fathom {

// Stands for `fathom` without a command: it has the global flags only, and an empty name.
extern const Command kNoCommand;

// The words after the program's own name. Errors are usage errors with a hint. With --help or
// --version nothing else has to be complete.
Result<Arguments> parse_command_line(CommandTable commands, std::span<const std::string> words);

// The command that the words name; kNoCommand where they name none that there is.
const Command& command_named(CommandTable commands, std::span<const std::string> words);

// The command of that name, or the usage error that says which one was meant.
Result<const Command*> required_command(CommandTable commands, const std::string& name);

// As parse_command_line, for the words after a command's name.
Result<Arguments> parse_arguments(const Command& command, std::span<const std::string> words);

}  // namespace fathom
