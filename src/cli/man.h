// SPDX-License-Identifier: Apache-2.0
// The manual page in roff (man macros), made from the commands' data. No state: any thread.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.h"

namespace fathom {

std::string tool_man_page(CommandTable commands);
std::string command_man_page(const Command& command);

// Text that roff shows as it is, also where a line begins with a dot.
std::string roff_escape(std::string_view text);

}  // namespace fathom
