// SPDX-License-Identifier: Apache-2.0
// 95 % confidence intervals of shares of samples, and of the difference of two shares or amounts.
// Each interval lies around its own center, which is not the observed value: of a share it never
// leaves 0 to 1. Pure functions: thread-safe. The pages compute the same in
// flame_page_script_data.cpp.
#pragma once

#include <string>

#include "report/profile.h"

namespace fathom {

struct Interval {
  double low = 0, high = 1;
};

// Wilson's score interval of a share of `all`; 0 to 1 without samples.
Interval share_interval(double share, const Weight& all);

// Of `after` - `before`, shares of their own `all`: Newcombe's interval, which is made of the two
// score intervals. `noise`: how much more runs differ than samples of one run would.
Interval share_difference(double before, const Weight& all_before, double after,
                          const Weight& all_after, double noise);
// The same of amounts of weight, whose numbers of samples are Poisson distributed.
Interval amount_difference(const Weight& before, const Weight& all_before, const Weight& after,
                           const Weight& all_after, double noise);

// In percent: "0.58–4.86" for a column, "0.58 to 4.86" for a sentence; differences with signs:
// "−0.40 to +2.86".
std::string interval_cell(const Interval& interval);
std::string interval_text(const Interval& interval);
std::string signed_interval_text(const Interval& interval);

// "1.69 % (0.58 to 4.86)".
std::string share_text(double share, const Weight& all);

}  // namespace fathom
