// SPDX-License-Identifier: Apache-2.0
#include "symbol/timed_ranges.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace fathom {
namespace {

int at(const TimedRanges<int>& ranges, uint64_t address, int64_t time = INT64_MAX) {
  const auto* range = ranges.find(address, time);
  return range == nullptr ? 0 : range->value;
}

TEST(TimedRanges, SplitsAndRemembers) {
  TimedRanges<int> ranges;
  ranges.set(100, 200, 1, 10);
  ranges.set(120, 140, 2, 20);
  ranges.clear(130, 150, 30);
  EXPECT_EQ(at(ranges, 110), 1);
  EXPECT_EQ(at(ranges, 125), 2);
  EXPECT_EQ(at(ranges, 135), 0);
  EXPECT_EQ(at(ranges, 160), 1);
  EXPECT_EQ(at(ranges, 135, 25), 2);
  EXPECT_EQ(at(ranges, 135, 15), 1);
  EXPECT_EQ(at(ranges, 135, 5), 0);
  EXPECT_EQ(at(ranges, 200, 15), 0);
}

// Against a plain array of time by address.
TEST(TimedRanges, AsAPlainArraySays) {
  std::mt19937 random(11);
  TimedRanges<int> ranges(100'000);
  std::vector<std::vector<int>> plain{std::vector<int>(256)};
  for (int time = 1; time < 300; ++time) {
    plain.push_back(plain.back());
    uint64_t start = random() % 256, end = random() % 257;
    if (start > end) std::swap(start, end);
    const int value = random() % 4 == 0 ? 0 : time;
    if (value == 0)
      ranges.clear(start, end, time);
    else
      ranges.set(start, end, value, time);
    for (uint64_t i = start; i < end; ++i) plain.back()[i] = value;
  }
  for (int time = 0; time < 300; ++time)
    for (uint64_t address = 0; address < 256; ++address)
      ASSERT_EQ(at(ranges, address, time), plain[static_cast<size_t>(time)][address])
          << time << " " << address;
}

TEST(TimedRanges, PastIsBounded) {
  TimedRanges<int> ranges(10);
  for (int time = 1; time < 1000; ++time) ranges.set(0, 100, time, time);
  EXPECT_EQ(ranges.past_size(), 10U);
  EXPECT_EQ(at(ranges, 5, 995), 995);
  EXPECT_EQ(at(ranges, 5, 500), 0);
}

}  // namespace
}  // namespace fathom
