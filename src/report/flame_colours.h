// SPDX-License-Identifier: Apache-2.0
// The colour of a function in pictures: a band of hues per kind of code, within it one hue per
// module, and a slightly other lightness per name. The same for the same names on every machine.
// Pure functions: any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/profile.h"

namespace fathom {

// "#e9c46a".
std::string flame_colour(const Function& function);

struct ColourKey {
  const char* name;
  const char* colour;  // nullptr: the name says it
};
// The legend's entry for a function; kinds of the same entry look alike.
const ColourKey& colour_key(const Function& function);
// Those of some nodes, by name.
std::vector<ColourKey> colour_keys(const Profile& profile, std::span<const uint32_t> nodes);

}  // namespace fathom
