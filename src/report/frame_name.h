// SPDX-License-Identifier: Apache-2.0
// What a stack's frame is called. Pure functions: any thread.
#pragma once

#include <string>
#include <string_view>

#include "record/dictionary.h"

namespace fathom {

// The last part of a path.
std::string_view base_name(std::string_view path);
// "[libc.so.6]" or "[unknown]", for a function that has no name.
std::string unknown_name(std::string_view module);
// The function's name, with its source line where that is known; never empty.
std::string frame_name(const Frame& frame, const Dictionary& names);

}  // namespace fathom
