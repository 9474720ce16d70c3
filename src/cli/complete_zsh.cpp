// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.h"
#include "cli/complete.h"

namespace fathom {
namespace {

constexpr std::string_view kHead = R"sh(#compdef fathom
# zsh completion for fathom, made by `fathom completion zsh`.
# Put it as _fathom into a folder of $fpath, or: source <(fathom completion zsh)

# Sets `names` to the words that fathom itself lists.
_fathom_ask() {
  names=(${(f)"$(_call_program words fathom completion --words $1 2>/dev/null)"})
}

_fathom_words() {
  local -a names
  _fathom_ask $1
  _wanted words expl $1 compadd -a names
}

_fathom_runs_and_words() {
  _alternative 'runs:run:_files -/' "words:word:_fathom_words $1"
}

_fathom_list() {
  local -a names
  _fathom_ask $1
  _values -s , $1 $names
}
)sh";

constexpr std::string_view kTail = R"sh(
if [[ $funcstack[1] == _fathom ]]; then
  _fathom "$@"
else
  compdef _fathom fathom
fi
)sh";

std::string zsh_quoted(std::string_view text) {
  std::string out = "'";
  for (const char byte : text) {
    if (byte == '\'') {
      out += "'\\''";
    } else {
      out += byte;
    }
  }
  return out + "'";
}

// Brackets and colons mean something in _arguments' and _describe's words.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (byte == ':' || byte == '[' || byte == ']' || byte == '\\') out += '\\';
    out += byte;
  }
  return out;
}

// What _arguments does for a value. A space in front keeps it from adding options of its own.
std::string action(const char* choices, const char* completes, bool list) {
  if (choices != nullptr) {
    return list ? fmt::format(" _values -s , value {}", choices) : fmt::format("({})", choices);
  }
  const std::string_view kind = completes == nullptr ? "" : completes;
  if (kind.empty()) return " ";
  if (kind == "file") return "_files";
  if (kind == "folder" || kind == "run") return "_files -/";
  if (kind == "run-or-query") return " _fathom_runs_and_words run-or-query";
  return fmt::format(" {} {}", list ? "_fathom_list" : "_fathom_words", kind);
}

// One word for _arguments for each spelling of the flag.
std::string flag_specs(const Flag& flag, std::string_view indent) {
  const std::string both = flag.letter != 0 ? fmt::format("-{} --{}", flag.letter, flag.name)
                                            : fmt::format("--{}", flag.name);
  const std::string before = flag.repeatable ? "*" : fmt::format("({})", both);
  std::string after = fmt::format("[{}]", escaped(flag.help));
  const bool valued = flag.value != nullptr;
  if (valued) {
    after +=
        fmt::format(":{}:{}", escaped(flag.value), action(flag.choices, flag.completes, flag.list));
  }
  std::string specs = fmt::format(
      "{}{} \\\n", indent,
      zsh_quoted(fmt::format("{}--{}{}{}", before, flag.name, valued ? "=" : "", after)));
  if (flag.letter == 0) return specs;
  return specs + fmt::format("{}{} \\\n", indent,
                             zsh_quoted(fmt::format("{}-{}{}{}", before, flag.letter,
                                                    valued ? "+" : "", after)));
}

std::string zsh_case(const Command& command) {
  constexpr std::string_view kIndent = "            ";
  std::string out = fmt::format("        {})\n          _arguments -s -S : \\\n", command.name);
  for (const Flag& flag : command.flags) out += flag_specs(flag, kIndent);
  for (const Flag& flag : global_flags()) out += flag_specs(flag, kIndent);
  for (const Positional& positional : command.positionals) {
    const std::string_view before = positional.repeatable ? "*:" : positional.optional ? "::" : ":";
    const std::string offer = action(positional.choices, positional.completes, false);
    out += fmt::format("{}{} \\\n", kIndent,
                       zsh_quoted(fmt::format("{}{}:{}", before, positional.name, offer)));
  }
  if (command.rest == Rest::kProgram) {
    out += fmt::format("{}'(-):program:_command_names -e' \\\n{}'*::arguments:_normal' \\\n",
                       kIndent, kIndent);
  }
  out.resize(out.size() - 3);  // the last " \\\n"
  return out + "\n          ;;\n";
}

}  // namespace

std::string zsh_completion(CommandTable commands) {
  std::string names;
  std::string cases;
  for (const Command* command : commands) {
    const std::string entry = fmt::format("{}:{}", command->name, escaped(command->summary));
    if (!command->hidden) names += fmt::format("        {}\n", zsh_quoted(entry));
    cases += zsh_case(*command);
  }
  std::string globals;
  for (const Flag& flag : global_flags()) globals += flag_specs(flag, "    ");
  std::string out(kHead);
  out +=
      "\n_fathom() {\n  local curcontext=\"$curcontext\" state line expl\n  local -a names\n  "
      "typeset "
      "-A opt_args\n";
  out += "  _arguments -C -s -S : \\\n" + globals + "    '1: :->command' \\\n    '*:: :->rest'\n";
  out += "  case $state in\n    command)\n      names=(\n" + names + "      )\n";
  out += "      _describe -t commands command names\n      ;;\n";
  out += "    rest)\n      case $words[1] in\n" + cases + "      esac\n      ;;\n  esac\n}\n";
  out += kTail;
  return out;
}

}  // namespace fathom
