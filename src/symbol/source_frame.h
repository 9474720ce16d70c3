// SPDX-License-Identifier: Apache-2.0
// A place in source code, as debug information tells of it. Plain data.
#pragma once

#include <cstdint>
#include <string>

namespace fathom {

struct SourceFrame {
  std::string name;  // of the function, mangled where the language does that; may be empty
  std::string file;  // empty: not known
  uint32_t line = 0;
};

}  // namespace fathom
