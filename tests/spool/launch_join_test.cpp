// SPDX-License-Identifier: Apache-2.0
#include "spool/launch_join.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(LaunchJoin, WorkHasTheNumberOfTheFirstCallThatCanHaveAskedForIt) {
  LaunchJoin join;
  const int64_t second = join.called(1, "add", 2'000'000);
  const int64_t first = join.called(1, "add", 1'000'000);  // of another thread, read later
  const int64_t other = join.called(2, "add", 1'000'000);
  EXPECT_EQ(join.ran(1, "mul", 5'000'000), std::nullopt);
  EXPECT_EQ(join.ran(1, "add", 500'000), std::nullopt) << "before anybody asked";
  EXPECT_EQ(join.ran(1, "add", 5'000'000), first);
  EXPECT_EQ(join.ran(1, "add", 5'000'000), second);
  EXPECT_EQ(join.ran(1, "add", 5'000'000), std::nullopt);
  EXPECT_EQ(join.ran(2, "add", 5'000'000), other);
  EXPECT_EQ(join.waiting(), 0U);
}

TEST(LaunchJoin, PartsOfAGraphHaveOneNumber) {
  LaunchJoin join;
  const int64_t first = join.called(1, LaunchJoin::kGraph, 10);
  const int64_t second = join.called(1, LaunchJoin::kGraph, 20);
  EXPECT_EQ(join.ran_in_graph(1, 77, 100), first);
  EXPECT_EQ(join.ran_in_graph(1, 78, 100), second);
  EXPECT_EQ(join.ran_in_graph(1, 77, 100), first);
  EXPECT_EQ(join.ran_in_graph(1, 79, 100), std::nullopt);
}

TEST(LaunchJoin, CallsThatNeverRunAreBounded) {
  LaunchJoin join;
  for (size_t i = 0; i < LaunchJoin::kMostWaiting + 10'000; ++i)
    (void)join.called(1, i % 2 == 0 ? "add" : "mul", static_cast<int64_t>(i));
  EXPECT_LE(join.waiting(), LaunchJoin::kMostWaiting);
  EXPECT_EQ(join.ran(1, "add", INT64_MAX), 10'001) << "the oldest are forgotten";
}

TEST(LaunchJoin, WhatIsCapturedDoesNotRun) {
  LaunchJoin join;
  join.capture(1, 2, true);
  EXPECT_TRUE(join.captures(1, 2));
  EXPECT_FALSE(join.captures(1, 3));
  join.capture(1, 2, false);
  EXPECT_FALSE(join.captures(1, 2));
}

}  // namespace
}  // namespace fathom
