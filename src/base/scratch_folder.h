// SPDX-License-Identifier: Apache-2.0
// Folders that live as long as a recorder, in memory where the machine has a file system for that:
// fathom-KIND-PID-XXXXXX. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

// Makes one with this mode. The caller removes it.
Result<std::string> make_scratch_folder(std::string_view kind, unsigned mode);
// Those of a kind whose recorder has ended.
std::vector<std::string> leftover_scratch_folders(std::string_view kind);

}  // namespace fathom
