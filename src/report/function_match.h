// SPDX-License-Identifier: Apache-2.0
// Which functions a name stands for. Pure functions: any thread.
#pragma once

#include <string>
#include <vector>

#include "report/profile.h"

namespace fathom {

// Places in Profile::functions: those of exactly this name; else those of this name without its
// arguments; else those whose name contains it. kNotFound with near names where there is none.
Result<std::vector<uint32_t>> match_functions(const Profile& profile, const std::string& wanted);

}  // namespace fathom
