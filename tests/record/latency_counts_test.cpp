// SPDX-License-Identifier: Apache-2.0
#include "record/latency_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace fathom {
namespace {

TEST(LatencyCounts, OfNoCallNothingIsKnown) {
  LatencyCounts latency;
  latency.add_histogram({}, 5);
  latency.add_histogram(std::vector<int64_t>{0, 0}, 5);
  EXPECT_EQ(latency.calls(), 0);
  EXPECT_FALSE(latency.percentile(50).has_value());
  EXPECT_FALSE(latency.longest().has_value());
}

TEST(LatencyCounts, PercentilesOfCallsAreThoseOfTheSortedList) {
  std::mt19937_64 random(5);
  std::vector<int64_t> all;
  LatencyCounts latency;
  for (int i = 0; i < 10'007; ++i) {
    const auto ns = static_cast<int64_t>(random() % (uint64_t{1} << (random() % 34)));
    all.push_back(ns);
    latency.add_call(ns);
  }
  std::sort(all.begin(), all.end());
  for (const int percent : {1, 50, 95, 99, 100}) {
    const size_t rank = (all.size() * static_cast<size_t>(percent) + 99) / 100;
    const int64_t expected = all[rank - 1];
    const auto found = latency.percentile(percent);
    EXPECT_TRUE(found->exact);
    EXPECT_LE(found->ns, expected);
    EXPECT_GE(found->ns, expected - expected / 4096) << percent;
    if (expected < 8192) {
      EXPECT_EQ(found->ns, expected);
    }
  }
  EXPECT_EQ(latency.longest()->ns, all.back());
}

TEST(LatencyCounts, HistogramsGiveBounds) {
  LatencyCounts latency;
  latency.add_histogram(std::vector<int64_t>{0, 0, 0, 90, 9, 0, 0, 1}, std::nullopt);
  EXPECT_EQ(latency.calls(), 100);
  EXPECT_EQ(latency.percentile(50)->ns, 15);
  EXPECT_FALSE(latency.percentile(50)->exact);
  EXPECT_EQ(latency.percentile(95)->ns, 31);
  EXPECT_EQ(latency.percentile(99)->ns, 31);
  EXPECT_EQ(latency.percentile(100)->ns, 255);
  EXPECT_EQ(latency.longest()->ns, 255);
}

TEST(LatencyCounts, NoCallIsLongerThanAllTogether) {
  LatencyCounts latency;
  latency.add_histogram(std::vector<int64_t>{0, 0, 0, 0, 0, 0, 0, 1}, 130);
  latency.add_histogram(std::vector<int64_t>{0, 0, 0, 4}, 40);
  EXPECT_EQ(latency.longest()->ns, 130);
  EXPECT_EQ(latency.percentile(99)->ns, 130);
  EXPECT_EQ(latency.percentile(50)->ns, 15);
}

TEST(LatencyCounts, AMixIsBoundedByBoth) {
  LatencyCounts latency;
  latency.add_histogram(std::vector<int64_t>{0, 0, 0, 0, 2}, std::nullopt);  // 16 to 31
  latency.add_call(20);
  latency.add_call(1000);
  EXPECT_EQ(latency.percentile(25)->ns, 20);
  EXPECT_EQ(latency.percentile(50)->ns, 31);
  EXPECT_EQ(latency.percentile(75)->ns, 31);
  EXPECT_EQ(latency.percentile(100)->ns, 1000);
  EXPECT_FALSE(latency.percentile(100)->exact);
  const auto powers = latency.powers();
  EXPECT_EQ(powers[4], 3);
  EXPECT_EQ(powers[9], 1);
}

TEST(LatencyCounts, AnyNumbersAreTaken) {
  LatencyCounts latency;
  latency.add_call(INT64_MIN);
  latency.add_call(INT64_MAX);
  latency.add_histogram(std::vector<int64_t>(200, INT64_MAX), INT64_MIN);
  latency.add_histogram(std::vector<int64_t>{-5, 1}, std::nullopt);
  EXPECT_EQ(latency.calls(), INT64_MAX);
  EXPECT_EQ(latency.longest()->ns, INT64_MAX);
  EXPECT_TRUE(latency.percentile(99).has_value());
}

}  // namespace
}  // namespace fathom
