// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.h"
#include "cli/complete.h"

namespace fathom {
namespace {

constexpr std::string_view kFishEngine =
    R"sh(# fish completion for fathom, made by `fathom completion fish`.
# Use it with: fathom completion fish | source

# Prints where the cursor is: "own COMMAND OPERANDS", or "program PLACE" of its first word.
function __fathom_where
    set -l words (commandline -opc)
    set -l name ''
    set -l operands 0
    set -l flags_end 0
    set -l skip 0
    for i in (seq 2 (count $words))
        set -l word $words[$i]
        if test $skip = 1
            set skip 0
        else if test "$word" = --; and test $flags_end = 0
            if __fathom_runs_program "$name"
                echo program (math $i + 1)
                return
            end
            set flags_end 1
        else if string match -q -- '-?*' "$word"; and test $flags_end = 0
            contains -- "$name $word" $__fathom_valued; and set skip 1
        else if test -z "$name"
            set name $word
        else if __fathom_runs_program "$name"
            echo program $i
            return
        else
            set operands (math $operands + 1)
        end
    end
    echo own "$name" $operands
end

function __fathom_own
    string match -q -- "own $argv[1] *" (__fathom_where)
end

function __fathom_at
    test "own $argv" = (__fathom_where)
end

function __fathom_in_program
    set -l at (__fathom_where)
    string match -q -- 'program *' $at; and return 0
    string match -q -- '-*' (commandline -ct); and return 1
    set -l parts (string split -- ' ' $at)
    __fathom_runs_program "$parts[2]"
end

# Completes the program's own words as if they stood alone.
function __fathom_program
    set -l words (commandline -opc)
    set -l parts (string split -- ' ' (__fathom_where))
    set -l line
    if test "$parts[1]" = program; and test $parts[2] -le (count $words)
        set line (string escape -- $words[$parts[2]..-1])
    end
    complete --do-complete=(string join -- ' ' $line (commandline -ct))
end

function __fathom_words
    fathom completion --words $argv[1] 2>/dev/null
end
)sh";

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char byte : text) {
    if (byte == '\'' || byte == '\\') out += '\\';
    out += byte;
  }
  return out + "'";
}

// Lists go through the values before the comma, so that each offer is the whole word.
std::string fish_offer(const char* choices, const char* completes, bool list) {
  std::string words;
  const std::string_view kind = completes == nullptr ? "" : completes;
  if (choices != nullptr) {
    words = fmt::format("printf '%s\\n' {}", choices);
  } else if (kind.empty()) {
    return " -x";
  } else if (kind == "file") {
    return " -r -F";
  } else if (kind == "folder" || kind == "run") {
    words = "__fish_complete_directories (commandline -ct)";
  } else if (kind == "run-or-query") {
    words = "__fish_complete_directories (commandline -ct); __fathom_words run-or-query";
  } else {
    words = fmt::format("__fathom_words {}", kind);
  }
  if (list) words = fmt::format("__fish_append , ({})", words);
  return " -x -a " + fish_quoted("(" + words + ")");
}

std::string flag_line(std::string_view condition, const Flag& flag) {
  std::string line =
      fmt::format("complete -c fathom -n {} -l {}", fish_quoted(condition), flag.name);
  if (flag.letter != 0) line += fmt::format(" -s {}", flag.letter);
  if (flag.value != nullptr) line += fish_offer(flag.choices, flag.completes, flag.list);
  return line + fmt::format(" -d {}\n", fish_quoted(flag.help));
}

std::string command_lines(const Command& command) {
  const std::string own = fmt::format("__fathom_own {}", command.name);
  std::string out;
  for (const Flag& flag : command.flags) out += flag_line(own, flag);
  for (const Flag& flag : global_flags()) out += flag_line(own, flag);
  for (size_t place = 0; place < command.positionals.size(); ++place) {
    const Positional& positional = command.positionals[place];
    const std::string at =
        positional.repeatable ? own : fmt::format("__fathom_at {} {}", command.name, place);
    const std::string words = fish_offer(positional.choices, positional.completes, false);
    if (words != " -x") out += fmt::format("complete -c fathom -n {}{}\n", fish_quoted(at), words);
  }
  return out;
}

}  // namespace

std::string fish_completion(CommandTable commands) {
  std::string runs = "\nfunction __fathom_runs_program\n    contains -- \"$argv[1]\"";
  std::string valued = "\nset -g __fathom_valued";
  std::string lines = "\ncomplete -c fathom -f\n";
  for (const Flag& flag : global_flags()) lines += flag_line("__fathom_own ''", flag);
  for (const Command* command : commands) {
    if (command->rest == Rest::kProgram) runs += fmt::format(" {}", command->name);
    for (const Flag& flag : command->flags) {
      if (flag.value == nullptr) continue;
      valued += fmt::format(" '{} --{}'", command->name, flag.name);
      if (flag.letter != 0) valued += fmt::format(" '{} -{}'", command->name, flag.letter);
    }
    if (!command->hidden) {
      lines += fmt::format("complete -c fathom -n \"__fathom_own ''\" -a {} -d {}\n", command->name,
                           fish_quoted(command->summary));
    }
    lines += command_lines(*command);
  }
  lines += "complete -c fathom -n __fathom_in_program -a '(__fathom_program)'\n";
  return std::string(kFishEngine) + runs + "\nend\n" + valued + "\n" + lines;
}

}  // namespace fathom
