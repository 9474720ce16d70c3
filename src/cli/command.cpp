// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <array>

namespace fathom {
namespace {

constexpr std::array<Flag, 4> kGlobalFlags = {{
    {.name = "help", .letter = 'h', .help = "show this help"},
    {.name = "version", .letter = 'V', .help = "show the version"},
    {.name = "verbose", .letter = 'v', .help = "log what is being done, on stderr"},
    {.name = "no-color", .help = "no colours, as with NO_COLOR in the environment"},
}};

template <class Matches>
const Flag* find_flag_where(const Command& command, Matches matches) {
  for (const std::span<const Flag> flags : {command.flags, global_flags()}) {
    for (const Flag& flag : flags) {
      if (matches(flag)) return &flag;
    }
  }
  return nullptr;
}

}  // namespace

std::span<const Flag> global_flags() { return kGlobalFlags; }

const Flag* find_flag(const Command& command, std::string_view name) {
  return find_flag_where(command, [name](const Flag& flag) { return name == flag.name; });
}

const Flag* find_flag(const Command& command, char letter) {
  return find_flag_where(
      command, [letter](const Flag& flag) { return letter != 0 && letter == flag.letter; });
}

const Command* find_command(CommandTable commands, std::string_view name) {
  for (const Command* command : commands) {
    if (name == command->name) return command;
  }
  return nullptr;
}

}  // namespace fathom
