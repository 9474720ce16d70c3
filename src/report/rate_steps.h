// SPDX-License-Identifier: Apache-2.0
// Functions that work in step with a sampling rate: where several rates were sampled in one run,
// each must give the same shares, but for chance. A program that does something every 10 ms is seen
// at 100 Hz always at the same point of it. Pure functions: any thread.
#pragma once

#include <string>
#include <vector>

#include "report/profile.h"

namespace fathom {

struct RateShare {
  int64_t samples = 0;  // with the function on the stack
  double share = 0;     // of the rate's samples
};

struct FunctionRates {
  uint32_t function = 0;
  std::vector<RateShare> rates = {};  // as Profile::rates_hz
  bool in_step = false;               // they differ more than chance allows
  size_t odd = 0;                     // the rate that differs most from the others
};

// Of each function that is no process, the most samples first. Needs a profile with parts.
std::vector<FunctionRates> rates_of_functions(const Profile& profile);

// "tick (98.0 % at 100 Hz, 51.2 % at 999 Hz)", a few of them; empty: none.
std::string in_step_text(const Profile& profile);

}  // namespace fathom
