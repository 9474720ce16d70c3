// SPDX-License-Identifier: Apache-2.0
#include "cli/all_commands.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/man.h"
#include "cli/parse.h"

namespace fathom {
namespace {

Result<int> run_man(const Arguments& arguments) {
  if (arguments.positionals().empty()) {
    TRY(print_out(tool_man_page(all_commands())));
    return 0;
  }
  TRY_ASSIGN(const Command* command, required_command(all_commands(), arguments.positional(0)));
  TRY(print_out(command_man_page(*command)));
  return 0;
}

constexpr Positional kManPositionals[] = {
    {.name = "COMMAND", .help = "only this command", .optional = true, .completes = "command"},
};

}  // namespace

extern constinit const Command kManCommand = {
    .name = "man",
    .group = "Learn and set up",
    .summary = "Print the manual page",
    .description =
        "In roff, for man and for packages.\n\n"
        "    fathom man | man -l -\n"
        "    fathom man pack > fathom-pack.1",
    .positionals = kManPositionals,
    .run = run_man,
};

}  // namespace fathom
