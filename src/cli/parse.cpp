// SPDX-License-Identifier: Apache-2.0
#include "cli/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "base/text.h"

namespace fathom {

extern constinit const Command kNoCommand = {.name = ""};

namespace {

// The words sorted by whose they are. CLI11 gets the flags: where a program begins and what "--"
// and
// "--flag=" mean is decided here, because it would go on looking for flags in the program's words.
struct Sorted {
  std::vector<std::string> flags;
  std::vector<std::string> operands;
};

Error usage_error(const Command& command, std::string message, std::string_view suggestion = {}) {
  const std::string help =
      *command.name == '\0' ? "fathom --help" : fmt::format("fathom {} --help", command.name);
  std::string hint = suggestion.empty() ? "" : fmt::format("did you mean {}? ", suggestion);
  return Error{Code::kInvalid, std::move(message), hint + "see `" + help + "`"};
}

std::vector<std::string> flag_names(const Command& command) {
  std::vector<std::string> names;
  for (const std::span<const Flag> flags : {command.flags, global_flags()}) {
    for (const Flag& flag : flags) names.push_back(fmt::format("--{}", flag.name));
  }
  return names;
}

Error unknown_flag(const Command& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const std::vector<std::string> names = flag_names(command);
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view meant = closest_match(name, candidates).value_or("");
  return usage_error(command, fmt::format("unknown flag '{}'", printable(name)), meant);
}

// In "-vF" the first letter that takes a value takes the rest, or the next word where nothing is
// left.
const Flag* letter_wanting_next_word(const Command& command, std::string_view word) {
  for (size_t at = 1; at < word.size(); ++at) {
    const Flag* flag = find_flag(command, word[at]);
    if (flag == nullptr) return nullptr;
    if (flag->value != nullptr) return at + 1 == word.size() ? flag : nullptr;
  }
  return nullptr;
}

// Appends one flag word; says in `wants_value` which flag the next word belongs to.
Status take_flag(const Command& command, const std::string& word, Sorted& sorted,
                 const Flag*& wants_value) {
  if (!word.starts_with("--")) {
    wants_value = letter_wanting_next_word(command, word);
    sorted.flags.push_back(word);
    return {};
  }
  const size_t equals = word.find('=');
  const Flag* flag = find_flag(
      command, std::string_view(word).substr(2, equals == std::string::npos ? equals : equals - 2));
  if (flag == nullptr) return unknown_flag(command, word);
  const bool has_value = equals != std::string::npos;
  if (has_value && flag->value == nullptr) {
    return usage_error(command, fmt::format("--{} takes no value", flag->name));
  }
  sorted.flags.push_back(fmt::format("--{}", flag->name));
  if (has_value) sorted.flags.push_back(word.substr(equals + 1));
  wants_value = has_value || flag->value == nullptr ? nullptr : flag;
  return {};
}

// `stop_at_operand`: everything from the first operand on is an operand.
Result<Sorted> sort_words(const Command& command, std::span<const std::string> words,
                          bool stop_at_operand) {
  Sorted sorted;
  const Flag* wants_value = nullptr;
  bool operands_only = false;
  for (const std::string& word : words) {
    if (wants_value != nullptr) {
      sorted.flags.push_back(word);
      wants_value = nullptr;
    } else if (!operands_only && word == "--") {
      operands_only = true;
    } else if (operands_only || word.size() < 2 || word[0] != '-') {
      sorted.operands.push_back(word);
      operands_only = operands_only || stop_at_operand;
    } else {
      TRY(take_flag(command, word, sorted, wants_value));
    }
  }
  if (wants_value != nullptr) {
    return usage_error(
        command, fmt::format("--{} needs a value: {}", wants_value->name, wants_value->value));
  }
  return sorted;
}

Status check_choices(const Command& command, std::string_view what, const char* choices,
                     std::string_view value) {
  const auto allowed = split_words(choices);
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return {};
  const std::string_view meant = closest_match(value, allowed).value_or("");
  return usage_error(
      command,
      fmt::format("{}: '{}' is not one of {}", what, printable(value), fmt::join(allowed, ", ")),
      meant);
}

Status check_flag_choices(const Command& command, const Flag& flag, const Arguments& arguments) {
  if (flag.choices == nullptr || !arguments.has(flag.name)) return {};
  const auto values = flag.list ? arguments.list(flag.name) : arguments.texts(flag.name);
  for (const std::string& value : values) {
    TRY(check_choices(command, fmt::format("--{}", flag.name), flag.choices, value));
  }
  return {};
}

std::vector<std::string> values_of(const Flag& flag, const CLI::Option& option) {
  if (flag.value == nullptr) return {};
  if (flag.repeatable) return option.results();
  return {option.results().back()};  // who types it twice means the last one
}

// Gives CLI11 the flags as it wants them and collects what it found.
Status parse_flags(const Command& command, std::vector<std::string> words, Arguments& arguments) {
  try {
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    std::vector<std::pair<const Flag*, CLI::Option*>> options;
    for (const std::span<const Flag> flags : {command.flags, global_flags()}) {
      for (const Flag& flag : flags) {
        const std::string names = flag.letter != 0 ? fmt::format("-{},--{}", flag.letter, flag.name)
                                                   : fmt::format("--{}", flag.name);
        CLI::Option* option = flag.value == nullptr ? app.add_flag(names) : app.add_option(names);
        if (flag.value != nullptr) option->expected(1)->allow_extra_args(false);
        option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        options.emplace_back(&flag, option);
      }
    }
    std::reverse(words.begin(), words.end());  // its parser takes them from the end
    app.parse(std::move(words));
    for (const std::string& word : app.remaining()) return unknown_flag(command, word);
    for (const auto& [flag, option] : options) {
      if (option->count() > 0) arguments.add(flag->name, values_of(*flag, *option));
    }
  } catch (const CLI::Error& error) {
    return usage_error(command, error.what());
  }
  return {};
}

Status check_operands(const Command& command, const Arguments& arguments) {
  if (command.rest == Rest::kProgram) return {};
  const auto& given = arguments.positionals();
  size_t least = 0;
  bool endless = false;
  for (const Positional& positional : command.positionals) {
    endless = endless || positional.repeatable;
    if (positional.optional) continue;
    if (least++ == given.size())
      return usage_error(command, fmt::format("{} is missing", positional.name));
  }
  if (!endless && given.size() > command.positionals.size()) {
    const std::string& extra = given[command.positionals.size()];
    return usage_error(command, fmt::format("'{}' is one word too many", printable(extra)));
  }
  for (size_t place = 0; place < std::min(given.size(), command.positionals.size()); ++place) {
    const Positional& positional = command.positionals[place];
    if (positional.choices == nullptr) continue;
    TRY(check_choices(command, positional.name, positional.choices, given[place]));
  }
  return {};
}

Error unknown_command(CommandTable commands, const std::string& word) {
  std::vector<std::string_view> names;
  for (const Command* command : commands) {
    if (!command->hidden) names.emplace_back(command->name);
  }
  std::string meant;
  if (const auto match = closest_match(word, names)) {
    meant = fmt::format("`fathom {}`", *match);
  } else if (find_command(commands, "run") != nullptr) {
    meant = fmt::format("`fathom run -- {}`", printable(shell_quote(std::string_view(word))));
  }
  return usage_error(kNoCommand, fmt::format("unknown command '{}'", printable(word)), meant);
}

}  // namespace

Result<const Command*> required_command(CommandTable commands, const std::string& name) {
  if (const Command* command = find_command(commands, name)) return command;
  return unknown_command(commands, name);
}

Result<Arguments> parse_arguments(const Command& command, std::span<const std::string> words) {
  const bool runs_program = command.rest == Rest::kProgram;
  TRY_ASSIGN(Sorted sorted, sort_words(command, words, runs_program));
  Arguments arguments(command);
  TRY(parse_flags(command, std::move(sorted.flags), arguments));
  if (runs_program) {
    arguments.set_program(std::move(sorted.operands));
  } else {
    arguments.set_positionals(std::move(sorted.operands));
  }
  if (arguments.has("help") || arguments.has("version")) return arguments;
  for (const Flag& flag : command.flags) TRY(check_flag_choices(command, flag, arguments));
  TRY(check_operands(command, arguments));
  return arguments;
}

const Command& command_named(CommandTable commands, std::span<const std::string> words) {
  const auto sorted = sort_words(kNoCommand, words, true);
  if (!sorted.ok() || sorted.value().operands.empty()) return kNoCommand;
  const Command* command = find_command(commands, sorted.value().operands[0]);
  return command != nullptr ? *command : kNoCommand;
}

Result<Arguments> parse_command_line(CommandTable commands, std::span<const std::string> words) {
  TRY_ASSIGN(Sorted sorted, sort_words(kNoCommand, words, true));
  if (sorted.operands.empty()) return parse_arguments(kNoCommand, words);
  TRY_ASSIGN(const Command* command, required_command(commands, sorted.operands[0]));
  // Global flags before the command count as if they stood behind it.
  std::vector<std::string> own = std::move(sorted.flags);
  own.insert(own.end(), sorted.operands.begin() + 1, sorted.operands.end());
  return parse_arguments(*command, own);
}

}  // namespace fathom
