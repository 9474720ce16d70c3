// SPDX-License-Identifier: Apache-2.0
#include "report/rate_steps.h"

#include <gtest/gtest.h>

#include <random>

#include "report/made_samples.h"

namespace fathom {
namespace {

// `odd_share` of f at 100 Hz, a half at the others; chance as dice have it.
Profile sampled(double odd_share, unsigned seed, int seconds = 5) {
  MadeSamples made;
  std::mt19937 random(seed);
  for (const int64_t rate : {100, 444, 999}) {
    std::bernoulli_distribution is_f(rate == 100 ? odd_share : 0.5);
    for (int64_t i = 0; i < rate * seconds; ++i) {
      made.add({.stack = {"main", is_f(random) ? "f" : "g"},
                .weight = 1'000'000'000 / (100 + 444 + 999),
                .rate_hz = rate});
    }
  }
  ProfileFilter filter;
  filter.keep_parts = true;
  return load_profile(made.finish(), filter).value();
}

TEST(RateSteps, AFunctionInStepIsFlaggedWithItsRate) {
  const Profile profile = sampled(0.95, 1);
  size_t flagged = 0;
  for (const FunctionRates& function : rates_of_functions(profile)) {
    const std::string_view name = profile.functions[function.function].name;
    EXPECT_EQ(function.in_step, name != "main") << name;
    if (!function.in_step) continue;
    ++flagged;
    EXPECT_EQ(profile.rates_hz[function.odd], 100U);
  }
  EXPECT_EQ(flagged, 2U);
  EXPECT_NE(profile.in_step.find("% at 100 Hz"), std::string::npos);
}

TEST(RateSteps, ChanceIsNotFlagged) {
  int flagged = 0;
  for (unsigned seed = 0; seed < 60; ++seed)
    flagged += sampled(0.5, 100 + seed, 1).in_step.empty() ? 0 : 1;
  EXPECT_LE(flagged, 3) << "1 % each is expected at most";
}

TEST(RateSteps, WhatIsSaidIsSaidInTheReports) {
  MadeSamples made;
  for (int i = 0; i < 200; ++i) made.add({.stack = {"a"}, .weight = 5, .rate_hz = 100});
  for (int i = 0; i < 400; ++i) {
    made.add({.stack = {i % 2 == 0 ? "a" : "b"}, .weight = 5, .rate_hz = 200});
  }
  const Recording recording = made.finish();
  ReportOptions pipe;
  pipe.columns = kAnyWidth;
  EXPECT_NE(report_text(recording, "rates", pipe).find("in step with 100 Hz"), std::string::npos);
  EXPECT_NE(report_text(recording, "top").find("In step with a sampling rate"), std::string::npos);
  ReportOptions one_rate;
  one_rate.filter.rate_hz = 100;
  EXPECT_EQ(report_text(recording, "top", one_rate).find("In step"), std::string::npos);
}

}  // namespace
}  // namespace fathom
