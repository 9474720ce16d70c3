// SPDX-License-Identifier: Apache-2.0
// Functions of a program or library on disk, for uprobes. Pure: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/io/probe_set.h"

namespace fathom {

struct UserFunction {
  std::string name;
  uint64_t offset = 0;  // in the file
};

// By name, each place once. kNotFound, kCorrupt and kInvalid where the file is none to look into.
Result<std::vector<UserFunction>> user_functions(const std::string& file,
                                                 const NamePattern& pattern);

}  // namespace fathom
