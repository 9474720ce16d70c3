// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "cli/all_commands.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/complete.h"

namespace fathom {
namespace {

struct Shell {
  std::string_view name;
  std::string (*script)(CommandTable commands);
};
constexpr Shell kShells[] = {
    {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};

Result<int> run_completion(const Arguments& arguments) {
  if (arguments.has("words")) {
    for (const std::string& word : completion_words(all_commands(), arguments.text("words"))) {
      TRY(print_out(word + "\n"));
    }
    return 0;
  }
  for (const Shell& shell : kShells) {
    if (shell.name != arguments.positional(0)) continue;
    TRY(print_out(shell.script(all_commands())));
    return 0;
  }
  return Error{Code::kInvalid, "SHELL is missing: bash, zsh or fish",
               "see `fathom completion --help`"};
}

constexpr Flag kCompletionFlags[] = {
    {.name = "words", .value = "KIND", .help = "list the words of a kind; the scripts ask this"},
};
constexpr Positional kCompletionPositionals[] = {
    {.name = "SHELL",
     .help = "whose script to print",
     .optional = true,
     .choices = "bash zsh fish"},
};

}  // namespace

extern constinit const Command kCompletionCommand = {
    .name = "completion",
    .group = "Learn and set up",
    .summary = "Print the completion script for a shell",
    .description =
        "The script completes commands, flags, their values, recordings and files; behind a "
        "program's "
        "name it completes as that program does.\n\n"
        "    source <(fathom completion bash)\n"
        "    fathom completion zsh > ~/.zfunc/_fathom\n"
        "    fathom completion fish > ~/.config/fish/completions/fathom.fish",
    .flags = kCompletionFlags,
    .positionals = kCompletionPositionals,
    .run = run_completion,
};

}  // namespace fathom
