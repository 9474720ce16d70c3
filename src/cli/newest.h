// SPDX-License-Identifier: Apache-2.0
// Finds the recording a user most likely means when none was named.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom {

Result<std::string> newest_recording(const std::string& folder);

}  // namespace fathom
