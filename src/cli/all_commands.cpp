// SPDX-License-Identifier: Apache-2.0
#include "cli/all_commands.h"

#include <array>

// One line a command, in the order of the help; kNAMECommand is defined in cmd_name.cpp.
#define FATHOM_COMMANDS(COMMAND)       \
  COMMAND(kRunCommand)                 \
  COMMAND(kDoctorCommand)              \
  COMMAND(kReportCommand)              \
  COMMAND(kDiffCommand)                \
  COMMAND(kQueryCommand)               \
  COMMAND(kConvertCommand)             \
  COMMAND(kImportCommand)              \
  COMMAND(kPackCommand)                \
  COMMAND(kUnpackCommand)              \
  COMMAND(kServeCommand)               \
  COMMAND(kJobCommand)                 \
  COMMAND(kSendCommand)                \
  COMMAND(kProfilingServerCommand)     \
  COMMAND(kProfilingControllerCommand) \
  COMMAND(kProfilingClientCommand)     \
  COMMAND(kBenchmarkClientCommand)     \
  COMMAND(kHelpCommand)                \
  COMMAND(kCompletionCommand)          \
  COMMAND(kManCommand)

namespace fathom {

#define DECLARE(name) extern const Command name;
FATHOM_COMMANDS(DECLARE)
#undef DECLARE

CommandTable all_commands() {
#define ADDRESS(name) &name,
  static constexpr std::array kCommands = {FATHOM_COMMANDS(ADDRESS)};
#undef ADDRESS
  return kCommands;
}

}  // namespace fathom
