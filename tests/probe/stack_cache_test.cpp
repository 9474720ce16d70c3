// SPDX-License-Identifier: Apache-2.0
#include "probe/stack_cache.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

StackCache::Key key(uint64_t address, uint32_t space = 1, uint32_t parent = 0) {
  return {address, space, static_cast<StackId>(parent)};
}

TEST(StackCache, EmptyKnowsNothing) {
  const StackCache cache;
  EXPECT_EQ(cache.find(key(0)), StackId::kNone);
  EXPECT_EQ(cache.memory_bytes(), 0U);
}

TEST(StackCache, EveryPartOfTheKeyCounts) {
  StackCache cache;
  cache.add(key(0x1000, 1, 1), StackId{11});
  cache.add(key(0x1000, 2, 1), StackId{12});
  cache.add(key(0x1000, 1, 2), StackId{13});
  cache.add(key(0x1001, 1, 1), StackId{14});
  EXPECT_EQ(cache.find(key(0x1000, 1, 1)), StackId{11});
  EXPECT_EQ(cache.find(key(0x1000, 2, 1)), StackId{12});
  EXPECT_EQ(cache.find(key(0x1000, 1, 2)), StackId{13});
  EXPECT_EQ(cache.find(key(0x1001, 1, 1)), StackId{14});
  EXPECT_EQ(cache.find(key(0x1001, 2, 1)), StackId::kNone);
}

TEST(StackCache, GrowsAndLosesNothing) {
  StackCache cache;
  constexpr uint32_t kCount = 100'000;
  // As code is: aligned, near each other.
  for (uint32_t i = 1; i <= kCount; ++i)
    cache.add(key(0x555500000000 + uint64_t{i} * 16, 3, i / 7), StackId{i});
  for (uint32_t i = 1; i <= kCount; ++i)
    ASSERT_EQ(cache.find(key(0x555500000000 + uint64_t{i} * 16, 3, i / 7)), StackId{i});
  EXPECT_EQ(cache.find(key(0x555500000000)), StackId::kNone);
}

TEST(StackCache, IsBoundedAndGoesOnWhenFull) {
  StackCache cache;
  size_t most = 0;
  for (uint32_t i = 1; i <= 1'000'000; ++i) {
    cache.add(key(i), StackId{i});
    ASSERT_EQ(cache.find(key(i)), StackId{i});
    most = std::max(most, cache.memory_bytes());
  }
  EXPECT_LE(most, size_t{24} << 19);
  EXPECT_EQ(cache.find(key(1)), StackId::kNone);  // emptied since
}

TEST(StackCache, ClearedKnowsNothing) {
  StackCache cache;
  cache.add(key(5), StackId{5});
  cache.clear();
  EXPECT_EQ(cache.find(key(5)), StackId::kNone);
  cache.add(key(5), StackId{6});
  EXPECT_EQ(cache.find(key(5)), StackId{6});
}

}  // namespace
}  // namespace fathom
