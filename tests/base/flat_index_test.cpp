// SPDX-License-Identifier: Apache-2.0
#include "base/flat_index.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace fathom {
namespace {

TEST(FlatIndex, AnswersAsAnOrdinaryMapDoes) {
  std::mt19937_64 random(7);
  FlatIndex index;
  std::unordered_map<uint64_t, uint32_t> expected;
  for (uint32_t i = 0; i < 100'000; ++i) {
    // Keys that share low or high halves, as pairs of small numbers do.
    const uint64_t key = ((random() % 500) << 32) + random() % 500 + 1;
    const auto [number, added] = index.insert(key, i);
    const auto [entry, expected_added] = expected.try_emplace(key, i);
    ASSERT_EQ(added, expected_added);
    ASSERT_EQ(number, entry->second);
  }
  for (const auto& [key, number] : expected) {
    ASSERT_NE(index.find(key), nullptr);
    ASSERT_EQ(*index.find(key), number);
  }
  EXPECT_EQ(index.find(uint64_t{777} << 40), nullptr);
}

TEST(PairIndex, CountsFromOne) {
  PairIndex index;
  EXPECT_EQ(index.number(0, 1), std::pair(1U, true));
  EXPECT_EQ(index.number(1, 0), std::pair(2U, true));
  EXPECT_EQ(index.number(0, 1), std::pair(1U, false));
}

}  // namespace
}  // namespace fathom
