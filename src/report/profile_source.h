// SPDX-License-Identifier: Apache-2.0
// What a profile is made of: a recording, or a file of folded stacks. Plain data: any thread.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "record/recording.h"

namespace fathom {

struct ProfileSource {
  std::string path;
  std::string label = {};                   // of the configuration; empty: the run's own
  std::optional<Recording> recording = {};  // absent: folded stacks
  uint32_t set = 0;                         // which side of a comparison

  static ProfileSource of(const Recording& recording) {
    return {.path = recording.path(), .recording = recording};
  }
};
using ProfileSources = std::span<const ProfileSource>;

}  // namespace fathom
