// SPDX-License-Identifier: Apache-2.0
// Finds files that are installed beside the program: bin/fathom, lib/…. Any thread.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom {

// The path of `name` (as "lib/fathom-spawn") next to the folder of the running program; FATHOM_HOME
// wins.
Result<std::string> find_installed(const std::string& name);

}  // namespace fathom
