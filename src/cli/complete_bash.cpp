// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.h"
#include "cli/complete.h"

namespace fathom {
namespace {

// Everything that does not depend on the commands. The data functions come after it.
constexpr std::string_view kEngine =
    R"sh(# bash completion for fathom, made by `fathom completion bash`.
# Use it with: source <(fathom completion bash)

# Offers words for $cur; in a list, for what stands after the last comma.
_fathom_offer_words() {
  local before='' part=$cur word
  if ((list)) && [[ $cur == *,* ]]; then
    before=${cur%,*},
    part=${cur##*,}
  fi
  while IFS= read -r word; do
    [[ -n $word ]] && COMPREPLY+=("$before$word")
  done < <(compgen -W "$1" -- "$part")
}

# Offers paths: the letter is compgen's, f for files and d for folders.
_fathom_offer_paths() {
  local path
  compopt -o filenames 2>/dev/null
  while IFS= read -r path; do
    COMPREPLY+=("$path")
  done < <(compgen "-$1" -- "$cur")
}

# Offers what $kind and $choices say.
_fathom_offer() {
  if [[ -n $choices ]]; then
    _fathom_offer_words "$choices"
    return
  fi
  case $kind in
    '') ;;
    file) _fathom_offer_paths f ;;
    folder | run) _fathom_offer_paths d ;;
    run-or-query)
      _fathom_offer_paths d
      _fathom_offer_words "$("${COMP_WORDS[0]}" completion --words "$kind" 2>/dev/null)"
      ;;
    *) _fathom_offer_words "$("${COMP_WORDS[0]}" completion --words "$kind" 2>/dev/null)" ;;
  esac
}

# Completes somebody else's command line, which begins at word $1.
_fathom_program() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    local word
    _fathom_offer_paths f
    while IFS= read -r word; do
      COMPREPLY+=("$word")
    done < <(compgen -c -- "$cur")
  else
    _fathom_offer_paths f
  fi
}

# Completes a value, a flag, a command or a positional, whichever is due.
_fathom_own() {
  if [[ -n $flag ]]; then
    [[ $cur == '=' ]] && cur=''
    _fathom_value "$command $flag"
    _fathom_offer
  elif [[ $cur == -* ]] && ((!operands_only)); then
    _fathom_offer_words "$flags"
  elif [[ -z $command ]]; then
    _fathom_offer_words "$commands"
  elif ((program)); then
    _fathom_program "$COMP_CWORD"
  else
    _fathom_positional "$command $operands"
    _fathom_offer
  fi
}

_fathom() {
  local cur=${COMP_WORDS[COMP_CWORD]} command='' flag='' word i
  local commands='' flags='' valued='' program=0 kind='' choices='' list=0
  local operands=0 operands_only=0
  COMPREPLY=()
  _fathom_command ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -n $flag ]]; then
      [[ $word == '=' ]] || flag=''
    elif [[ $word == -- ]] && ((!operands_only)); then
      if ((program)); then
        _fathom_program "$((i + 1))"
        return
      fi
      operands_only=1
    elif [[ $word == -* ]] && ((!operands_only)); then
      [[ $valued == *" $word "* ]] && flag=$word
    elif [[ -z $command ]]; then
      command=$word
      _fathom_command "$command"
    elif ((program)); then
      _fathom_program "$i"
      return
    else
      operands=$((operands + 1))
    fi
  done
  _fathom_own
}
)sh";

// Adds the names of a flag, long first, to what bash may offer and to those that take a value.
void add_names(const Flag& flag, std::string& offered, std::string& valued) {
  offered += fmt::format("--{} ", flag.name);
  if (flag.value == nullptr) return;
  valued += fmt::format("--{} ", flag.name);
  if (flag.letter != 0) valued += fmt::format("-{} ", flag.letter);
}

std::string command_case(const Command& command) {
  std::string offered;
  std::string valued = " ";
  for (const Flag& flag : command.flags) add_names(flag, offered, valued);
  for (const Flag& flag : global_flags()) add_names(flag, offered, valued);
  return fmt::format("    {}) flags={} valued={} program={} ;;\n",
                     shell_quote(std::string_view(command.name)),
                     shell_quote(std::string_view(offered)), shell_quote(std::string_view(valued)),
                     command.rest == Rest::kProgram ? 1 : 0);
}

std::string offer(const char* choices, const char* completes, bool list) {
  return fmt::format("choices={} kind={} list={}",
                     shell_quote(std::string_view(choices == nullptr ? "" : choices)),
                     shell_quote(std::string_view(completes == nullptr ? "" : completes)),
                     list ? 1 : 0);
}

std::string value_case(const Command& command, const Flag& flag) {
  if (flag.value == nullptr) return "";
  const std::string letter =
      flag.letter == 0 ? "" : fmt::format(" | '{} -{}'", command.name, flag.letter);
  return fmt::format("    '{} --{}'{}) {} ;;\n", command.name, flag.name, letter,
                     offer(flag.choices, flag.completes, flag.list));
}

std::string positional_cases(const Command& command) {
  std::string cases;
  for (size_t place = 0; place < command.positionals.size(); ++place) {
    const Positional& positional = command.positionals[place];
    // A repeatable one also answers for the places behind it.
    const std::string where = positional.repeatable ? fmt::format("'{} '*", command.name)
                                                    : fmt::format("'{} {}'", command.name, place);
    cases += fmt::format("    {}) {} ;;\n", where,
                         offer(positional.choices, positional.completes, false));
  }
  return cases;
}

}  // namespace

std::string bash_completion(CommandTable commands) {
  std::string describe = command_case(Command{.name = ""});
  std::string values;
  std::string positionals;
  for (const Command* command : commands) {
    describe += command_case(*command);
    for (const Flag& flag : command->flags) values += value_case(*command, flag);
    positionals += positional_cases(*command);
  }
  const std::string names = join(completion_words(commands, "command"), " ");
  return fmt::format(
      "{}\n_fathom_command() {{\n  commands={}\n  case $1 in\n{}    *) flags='' valued='' "
      "program=0 ;;\n  esac\n}}\n\n"
      "_fathom_value() {{\n  case $1 in\n{}    *) ;;\n  esac\n}}\n\n"
      "_fathom_positional() {{\n  case $1 in\n{}    *) ;;\n  esac\n}}\n\n"
      "complete -F _fathom fathom\n",
      kEngine, shell_quote(std::string_view(names)), describe, values, positionals);
}

}  // namespace fathom
