// SPDX-License-Identifier: Apache-2.0
// A page on its own that shows stacks on a canvas: flame graph or icicle, both ways round, with
// zoom, search, choices, a table beside it, a heat map of the time, and the difference of two sets
// of runs. No network; its policy lets only its own script run; names are only ever text. Belongs
// to one thread.
#pragma once

#include <string>
#include <vector>

#include "report/profile.h"

namespace fathom {

struct FlamePage {
  enum class Mode { kFlame, kIcicle, kHeat, kDiff };
  Mode mode = Mode::kFlame;
  std::string title = {};  // these are printable
  std::vector<std::string> facts = {};
  std::vector<std::string> notes = {};
  // For a diff.
  std::vector<std::string> sets = {"all"};  // two names
  bool normalised = true;
  double noise = 1;  // how much more runs of a set differ than chance says
};

// What it is made of: the profile must have been loaded with this.
ProfileFilter page_filter(ProfileFilter filter);
std::string write_flame_page(const Profile& profile, const FlamePage& page);

// Stands near the beginning of every file that it writes.
constexpr const char* kFlamePageMark = "<!-- Stacks by fathom -->";

}  // namespace fathom
