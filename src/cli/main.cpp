// SPDX-License-Identifier: Apache-2.0
#include "cli/all_commands.h"
#include "cli/cli.h"

int main(int argc, char** argv) {
  return fathom::run_command_line(fathom::all_commands(), argc, argv);
}
