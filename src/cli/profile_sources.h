// SPDX-License-Identifier: Apache-2.0
// What a user names for a report about stacks: recordings and files of folded stacks, each with a
// label where LABEL= stands before it. "-" is standard input.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "report/profile_source.h"

namespace fathom {

Result<ProfileSource> open_source(const std::string& word);
// Opens them all, for one side of a comparison.
Result<std::vector<ProfileSource>> open_sources(const std::vector<std::string>& words,
                                                uint32_t set = 0);
// The path without .fathom or .folded: what a picture beside it is named after.
std::string source_name(const std::string& path);

}  // namespace fathom
