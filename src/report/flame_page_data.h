// SPDX-License-Identifier: Apache-2.0
// A profile as the script of a page reads it: names as JSON; nodes, and whose samples they have, as
// numbers in base64 (flame_page_script_data.cpp reads them). Pure functions: any thread.
#pragma once

#include <string>

#include "report/flame_page.h"

namespace fathom {

struct FlamePageData {
  std::string json;     // safe within a script element
  std::string nodes;    // depth first: how many levels up, then the function
  std::string parts;    // node, group, cell, samples; where these are not alike: weight, spread
  std::string colours;  // of each function
};
FlamePageData flame_page_data(const Profile& profile, const FlamePage& page);

}  // namespace fathom
