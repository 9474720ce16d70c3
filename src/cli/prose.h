// SPDX-License-Identifier: Apache-2.0
// The texts of a command taken apart and laid out, for --help and the manual page. No state: any
// thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace fathom {

struct Block {
  bool verbatim = false;  // indented lines such as examples: kept line by line, without the indent
  std::vector<std::string> lines;  // one for a paragraph
};
std::vector<Block> split_blocks(std::string_view description);

// "fathom run [FLAGS] [--] PROGRAM [ARGS...]"
std::string usage_line(const Command& command);
// "RUN...", "[FILE]"
std::string operand_form(const Positional& positional);
// What help, with choices and fallback, says about a flag or positional.
std::string full_help(const Flag& flag);
std::string full_help(const Positional& positional);

// Headings in the order of their first use, with what stands under each.
struct FlagGroup {
  std::string_view heading;
  std::vector<const Flag*> flags;
};
std::vector<FlagGroup> grouped_flags(const Command& command);
struct CommandGroup {
  std::string_view heading;
  std::vector<const Command*> commands;
};
std::vector<CommandGroup> grouped_commands(CommandTable commands);  // hidden ones left out

}  // namespace fathom
