// SPDX-License-Identifier: Apache-2.0
// The environment of programs that Fathom starts for the user. Pure but for reading its own.
#pragma once

#include <string>
#include <vector>

namespace fathom {

// Fathom's own environment, NAME=VALUE, without its secrets (the token of the hub, the password of
// the store), with `settings` set over it. A secret that is in `settings` stays.
std::vector<std::string> environment_with(const std::vector<std::string>& settings);

}  // namespace fathom
