// SPDX-License-Identifier: Apache-2.0
// Finds the recording a user means, or most likely means when none was named.
#pragma once

#include <string>

#include "base/result.h"
#include "record/recording.h"

namespace fathom {

Result<std::string> newest_recording(const std::string& folder);

// Opens what the user named. If there is none, the error says where it looked and what is like it.
Result<Recording> open_recording(const std::string& name);

}  // namespace fathom
