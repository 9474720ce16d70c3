// SPDX-License-Identifier: Apache-2.0
#include "cli/prose.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/complete.h"

namespace fathom {
namespace {

std::string with_choices(std::string_view help, const char* choices, const char* fallback) {
  std::string text(help);
  if (choices != nullptr) text += fmt::format(": {}", fmt::join(split_words(choices), ", "));
  if (fallback != nullptr && *fallback != '\0') text += fmt::format(" (default: {})", fallback);
  return text;
}

// Appends to the group with this heading, or to a new one.
template <class Group, class Member>
void put(std::vector<Group>& groups, std::string_view heading, std::vector<Member> Group::*members,
         Member member) {
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const Group& group) { return group.heading == heading; });
  if (found != groups.end()) {
    ((*found).*members).push_back(member);
  } else {
    groups.push_back({heading, {member}});
  }
}

}  // namespace

std::vector<Block> split_blocks(std::string_view description) {
  std::vector<Block> blocks;
  bool open = false;
  while (!description.empty()) {
    const size_t end = std::min(description.find('\n'), description.size());
    std::string_view line = description.substr(0, end);
    description.remove_prefix(std::min(end + 1, description.size()));
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const bool verbatim = indent > 0;
    line.remove_prefix(indent);
    if (line.empty()) {
      open = false;
      continue;
    }
    if (!open || blocks.back().verbatim != verbatim) blocks.push_back({verbatim, {}});
    std::vector<std::string>& lines = blocks.back().lines;
    if (verbatim || lines.empty()) {
      lines.emplace_back(line);
    } else {
      lines.back() += " " + std::string(line);
    }
    open = true;
  }
  return blocks;
}

std::string operand_form(const Positional& positional) {
  const std::string form = fmt::format("{}{}", positional.name, positional.repeatable ? "..." : "");
  return positional.optional ? "[" + form + "]" : form;
}

std::string usage_line(const Command& command) {
  if (*command.name == '\0') return "fathom COMMAND [FLAGS] ...";
  std::string line = fmt::format("fathom {}", command.name);
  if (!command.flags.empty()) line += " [FLAGS]";
  for (const Positional& positional : command.positionals) line += " " + operand_form(positional);
  if (command.rest == Rest::kProgram) line += " [--] PROGRAM [ARGS...]";
  return line;
}

std::string full_help(const Flag& flag) {
  std::string help = flag.help;
  // Names from our tables; not what happens to run just now.
  const bool names = flag.completes != nullptr && std::string_view(flag.completes) != "pid";
  if (flag.choices == nullptr && names) {
    if (const auto words = completion_words({}, flag.completes); !words.empty())
      help += fmt::format(": {}", fmt::join(words, ", "));
  }
  std::string text = with_choices(help, flag.choices, flag.fallback);
  if (flag.repeatable) text += "; may be given several times";
  return text;
}

std::string full_help(const Positional& positional) {
  return with_choices(positional.help, positional.choices, nullptr);
}

std::vector<FlagGroup> grouped_flags(const Command& command) {
  std::vector<FlagGroup> groups;
  for (const Flag& flag : command.flags) {
    put(groups, flag.group == nullptr ? "Flags" : flag.group, &FlagGroup::flags, &flag);
  }
  for (const Flag& flag : global_flags()) put(groups, "Global flags", &FlagGroup::flags, &flag);
  return groups;
}

std::vector<CommandGroup> grouped_commands(CommandTable commands) {
  std::vector<CommandGroup> groups;
  for (const Command* command : commands) {
    if (!command->hidden) put(groups, command->group, &CommandGroup::commands, command);
  }
  return groups;
}

}  // namespace fathom
