// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/text_style.h"
#include "base/text_wrap.h"
#include "cli/prose.h"

namespace fathom {
namespace {

constexpr size_t kColumns = 80;
constexpr size_t kHelpColumn = 28;  // where explanations begin

// "  NAME      explanation", the explanation below where the name is too long.
std::string row(std::string_view name, std::string_view explanation, size_t column, bool colours) {
  const size_t width = display_width(name);
  std::string line = "  " + styled(Style::kName, name, colours);
  line +=
      width + 4 > column ? "\n" + std::string(column, ' ') : std::string(column - width - 2, ' ');
  return line + wrap(explanation, kColumns, column) + "\n";
}

std::string heading(std::string_view text, bool colours) {
  return "\n" + styled(Style::kHeading, fmt::format("{}:", text), colours) + "\n";
}

std::string flag_form(const Flag& flag) {
  const std::string letter = flag.letter != 0 ? fmt::format("-{}, ", flag.letter) : "    ";
  const std::string value = flag.value != nullptr ? fmt::format(" {}", flag.value) : "";
  return fmt::format("{}--{}{}", letter, flag.name, value);
}

std::string flags_help(const Command& command, bool colours) {
  std::string out;
  for (const FlagGroup& group : grouped_flags(command)) {
    out += heading(group.heading, colours);
    for (const Flag* flag : group.flags)
      out += row(flag_form(*flag), full_help(*flag), kHelpColumn, colours);
  }
  return out;
}

std::string description_help(const Command& command) {
  std::string out;
  for (const Block& block : split_blocks(command.description)) {
    out += "\n";
    for (const std::string& line : block.lines) {
      out += block.verbatim ? "    " + line + "\n" : wrap(line, kColumns, 0) + "\n";
    }
  }
  return out;
}

}  // namespace

std::string overview_help(CommandTable commands, bool colours) {
  std::string out = "Fathom: where a program's time, memory and I/O go\n\n";
  out += styled(Style::kHeading, "Usage:", colours) + " " + usage_line(Command{.name = ""}) + "\n";
  for (const CommandGroup& group : grouped_commands(commands)) {
    out += heading(group.heading, colours);
    for (const Command* command : group.commands)
      out += row(command->name, command->summary, 16, colours);
  }
  out += flags_help(Command{.name = ""}, colours);
  return out + "\n`fathom help COMMAND` says more about one.\n";
}

std::string command_help(const Command& command, bool colours) {
  std::string out = fmt::format("{}\n\n", command.summary);
  out += styled(Style::kHeading, "Usage:", colours) + " " + wrap(usage_line(command), kColumns, 7) +
         "\n";
  out += description_help(command);
  if (!command.positionals.empty()) {
    out += heading("Arguments", colours);
    for (const Positional& positional : command.positionals) {
      out += row(operand_form(positional), full_help(positional), kHelpColumn, colours);
    }
  }
  return out + flags_help(command, colours);
}

}  // namespace fathom
