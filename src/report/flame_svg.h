// SPDX-License-Identifier: Apache-2.0
// A flame graph as one SVG file: a picture anywhere, and where scripts run also zoom and search. No
// network, no event handlers in attributes; names are only ever text. What widths and colours mean
// is the caller's. Belongs to one thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/flame_colours.h"
#include "report/profile.h"

namespace fathom {

struct FlamePicture {
  const Profile& profile;
  bool icicle = false;     // callers at the top
  std::string title = {};  // these are printable
  std::vector<std::string> facts = {};
  std::vector<std::string> notes = {};
  std::vector<int64_t> widths = {};  // of each node; children's add up to no more than its own
  std::function<std::string(uint32_t node)> figures = {};  // what stands below a frame's name
  std::function<std::string(uint32_t node)> colour = {};
  std::function<std::string(uint32_t node)> sign = {};  // before a frame's name; none: nothing
  std::vector<ColourKey> keys = {};                     // empty: by kind of code
};

std::string write_flame_svg(const FlamePicture& picture);

// Stands near the beginning of every file that it writes.
constexpr const char* kFlamegraphMark = "<!-- Flame graph by fathom -->";

}  // namespace fathom
