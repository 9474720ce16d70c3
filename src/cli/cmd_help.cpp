// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "base/text_style.h"
#include "cli/all_commands.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/parse.h"

namespace fathom {
namespace {

Result<int> run_help(const Arguments& arguments) {
  const bool colours = colours_wanted(STDOUT_FILENO);
  if (arguments.positionals().empty()) {
    TRY(print_out(overview_help(all_commands(), colours)));
    return 0;
  }
  TRY_ASSIGN(const Command* command, required_command(all_commands(), arguments.positional(0)));
  TRY(print_out(command_help(*command, colours)));
  return 0;
}

constexpr Positional kHelpPositionals[] = {
    {.name = "COMMAND", .help = "the command to explain", .optional = true, .completes = "command"},
};

}  // namespace

extern constinit const Command kHelpCommand = {
    .name = "help",
    .group = "Learn and set up",
    .summary = "Explain a command",
    .description = "Without a command, lists them all. `fathom COMMAND --help` says the same.",
    .positionals = kHelpPositionals,
    .run = run_help,
};

}  // namespace fathom
