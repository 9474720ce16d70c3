// SPDX-License-Identifier: Apache-2.0
#include "probe/stacks/copy_size.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr uint64_t kKb = 1024;

void note(CopySize& size, int times, bool cut, uint64_t needed_bytes) {
  for (int i = 0; i < times; ++i) size.note(cut, needed_bytes);
}

TEST(CopySize, StartsSmallAndStaysSoWhileNothingIsCut) {
  CopySize size;
  note(size, 100'000, false, 7 * kKb);
  EXPECT_EQ(size.step(), 0U);
}

TEST(CopySize, OneCutSampleIsNoReasonTwoAre) {
  CopySize size;
  note(size, 1, true, 9 * kKb);
  EXPECT_EQ(size.step(), 0U);
  note(size, 1, true, 9 * kKb);
  EXPECT_EQ(size.step(), 1U);
}

TEST(CopySize, SamplesStillOnTheirWayDoNotGrowItTwice) {
  CopySize size;
  note(size, 40, true, 9 * kKb);  // all taken before the size could change
  EXPECT_EQ(size.step(), 1U);
  note(size, 2, true, 33 * kKb);
  EXPECT_EQ(size.step(), 2U);
}

TEST(CopySize, AStackKnownToBeLargeSkipsASize) {
  CopySize size;
  note(size, 2, true, 60 * kKb);
  EXPECT_EQ(size.step(), 2U);
}

TEST(CopySize, TheLargestIsTheLimit) {
  CopySize size;
  note(size, 1000, true, 200 * kKb);
  EXPECT_EQ(size.step(), CopySize::kBytes.size() - 1);
}

TEST(CopySize, ShrinksAfterALongTimeWithoutNeed) {
  CopySize size;
  note(size, 2, true, 60 * kKb);
  note(size, 3999, false, 4 * kKb);
  EXPECT_EQ(size.step(), 2U);
  note(size, 1, false, 4 * kKb);
  EXPECT_EQ(size.step(), 1U);
  note(size, 4000, false, 4 * kKb);
  EXPECT_EQ(size.step(), 0U);
}

TEST(CopySize, ALargeOneNowAndThenKeepsTheSize) {
  CopySize size;
  note(size, 2, true, 20 * kKb);
  for (int i = 0; i < 20; ++i) {
    note(size, 3999, false, 4 * kKb);
    note(size, 1, false, 20 * kKb);
  }
  EXPECT_EQ(size.step(), 1U);
}

}  // namespace
}  // namespace fathom
