// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "base/text_style.h"
#include "base/version.h"
#include "cli/help.h"
#include "cli/parse.h"

namespace fathom {
namespace {

Result<int> dispatch(CommandTable commands, const Arguments& arguments) {
  if (arguments.has("no-color")) forbid_colours();
  if (arguments.has("verbose")) set_log_level(LogLevel::kDebug);
  const Command& command = arguments.command();
  const bool none = command.run == nullptr;
  if (arguments.has("version")) {
    TRY(print_out(fmt::format("fathom {}\n", kVersion)));
    return 0;
  }
  if (none || arguments.has("help")) {
    const bool colours = colours_wanted(STDOUT_FILENO);
    TRY(print_out(none ? overview_help(commands, colours) : command_help(command, colours)));
    return 0;
  }
  return command.run(arguments);
}

Result<int> parse_and_run(CommandTable commands, const std::vector<std::string>& words) {
  TRY_ASSIGN(const Arguments arguments, parse_command_line(commands, words));
  return dispatch(commands, arguments);
}

}  // namespace

Status print_out(std::string_view text) {
  auto written = write_all(STDOUT_FILENO, text);
  if (!written.ok()) return std::move(written).error().within("stdout");
  return {};
}

Status print_data_out(std::string_view text) {
  return print_out(isatty(STDOUT_FILENO) != 0 ? printable_lines(text) : text);
}

int run_command_line(CommandTable commands, int argc, const char* const* argv) {
  fill_standard_fds();
  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  // A link beside the program that bears a command's name is that command.
  const std::string_view called = argc > 0 ? argv[0] : "";
  const std::string name(called.substr(called.rfind('/') + 1));
  if (find_command(commands, name) != nullptr) words.insert(words.begin(), name);
  const auto status = parse_and_run(commands, words);
  if (status.ok()) return status.value();
  log_failure(status.error());
  if (command_named(commands, words).rest == Rest::kProgram) return kExitOurs;
  return status.error().code == Code::kInvalid ? kExitUsage : kExitFailure;
}

}  // namespace fathom
