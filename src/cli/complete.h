// SPDX-License-Identifier: Apache-2.0
// Shell completion scripts, made from the commands' data. `completes` of a flag or positional is
// one of: "file", "folder", "run" (a recording), or a kind of word that this program lists when the
// shell asks (`fathom completion --words KIND`), see complete_words.cpp. No state: any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace fathom {

std::string bash_completion(CommandTable commands);
std::string zsh_completion(CommandTable commands);
std::string fish_completion(CommandTable commands);

// The words of a kind: "command", …; none for a kind nobody lists.
std::vector<std::string> completion_words(CommandTable commands, std::string_view kind);
bool is_completion_kind(std::string_view kind);

}  // namespace fathom
