// SPDX-License-Identifier: Apache-2.0
#include "record/byte_series.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace fathom {
namespace {

int64_t sum(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

TEST(ByteSeries, SpreadsEvenlyAndKeepsEveryByte) {
  ByteSeries series;
  series.add(500, 3500, 3001);  // half of the first and fourth microsecond, all of those between
  series.settle();
  EXPECT_EQ(series.slots(), (std::vector<int64_t>{500, 1000, 1001, 500}));
}

TEST(ByteSeries, AMomentIsOneSlot) {
  ByteSeries series;
  series.add(2000, 2000, 7);
  series.add(-5, -5, 3);
  series.add(10, 5, 1);
  series.add(0, 1000, 0);
  series.settle();
  EXPECT_EQ(series.slots(), (std::vector<int64_t>{4, 0, 7}));
}

TEST(ByteSeries, SlotsGetWiderAndTheSumStays) {
  std::mt19937_64 random(3);
  ByteSeries series;
  int64_t expected = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto from_ns = static_cast<int64_t>(random() % 100'000'000'000);
    const auto bytes = static_cast<int64_t>(random() % 1'000'003);
    series.add(from_ns, from_ns + static_cast<int64_t>(random() % 3'000'000'000), bytes);
    expected += bytes;
  }
  series.settle();
  EXPECT_EQ(series.slot_ns(), 10'000'000);
  EXPECT_LE(series.slots().size(), ByteSeries::kMostSlots);
  EXPECT_EQ(sum(series.slots()), expected);
  for (const size_t parts : {1U, 7U, 76U, 1000U})
    EXPECT_EQ(sum(resample(series, 103'000'000'000 / static_cast<int64_t>(parts), parts)),
              expected);
}

TEST(ByteSeries, TwoOfThemAddUpWhateverTheirSlots) {
  ByteSeries fine;
  fine.add(0, 1000, 5);
  fine.settle();
  ByteSeries wide;
  wide.add(0, 10'000'000'000, 1000);
  wide.settle();
  ByteSeries both = fine;
  both.add(wide);
  both.settle();
  ByteSeries other = wide;
  other.add(fine);
  other.settle();
  EXPECT_EQ(resample(both, 1'000'000, 10'000), resample(other, 1'000'000, 10'000));
  EXPECT_EQ(sum(both.slots()), 1005);
  EXPECT_EQ(resample(other, 5'000'000'000, 2), resample(both, 5'000'000'000, 2));
  EXPECT_EQ(resample(both, 5'000'000'000, 2), (std::vector<int64_t>{505, 500}));
}

TEST(ByteSeries, PartsThatEndWithinASlotShareIt) {
  ByteSeries series;
  series.add(0, 3000, 300);
  series.settle();
  EXPECT_EQ(resample(series, 1500, 2), (std::vector<int64_t>{150, 150}));
  EXPECT_EQ(resample(series, 1000, 2), (std::vector<int64_t>{100, 200}));
  EXPECT_EQ(resample(series, 300, 10), (std::vector<int64_t>(10, 30)));
}

TEST(ByteSeries, AnyNumbersAreTaken) {
  ByteSeries series;
  for (const int64_t time_ns : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
    for (const int64_t end_ns : {INT64_MIN, int64_t{0}, INT64_MAX})
      series.add(time_ns, end_ns, INT64_MAX);
  }
  series.settle();
  EXPECT_LE(series.slots().size(), ByteSeries::kMostSlots);
  EXPECT_EQ(resample(series, 1, 3).size(), 3U);
}

}  // namespace
}  // namespace fathom
