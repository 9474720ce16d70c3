// SPDX-License-Identifier: Apache-2.0
// The one table of commands. Help, completion, the manual page and the tests read it; nothing else
// names a member. Constant: any thread.
#pragma once

#include "cli/command.h"

namespace fathom {

CommandTable all_commands();

}  // namespace fathom
