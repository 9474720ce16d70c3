// SPDX-License-Identifier: Apache-2.0
#include "launch/inner_ids.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(InnerIds, EachNamespaceHasItsOwn) {
  InnerIds ids;
  ids.add_process({1, 7}, 4242);
  ids.add_process({2, 7}, 4243);
  ids.add_thread({1, 8}, 4244);
  EXPECT_EQ(ids.process({1, 7}), 4242);
  EXPECT_EQ(ids.process({2, 7}), 4243);
  EXPECT_EQ(ids.thread({1, 8}), 4244);
  EXPECT_EQ(ids.process({1, 8}), std::nullopt);
  EXPECT_EQ(ids.thread({1, 7}), std::nullopt);
}

TEST(InnerIds, AnIdThatComesAgainIsTheNewerOnes) {
  InnerIds ids;
  ids.add_process({1, 7}, 100);
  ids.add_process({1, 7}, 200);
  EXPECT_EQ(ids.process({1, 7}), 200);
  for (int64_t i = 1; i < 131'072; ++i) ids.add_process({2, i}, i);
  EXPECT_EQ(ids.process({1, 7}), 200) << "is newer than its first mention";
  ids.add_process({3, 1}, 1);
  EXPECT_EQ(ids.process({1, 7}), std::nullopt);
}

TEST(InnerIds, OfAMillionTheNewestAreKept) {
  InnerIds ids;
  for (int64_t i = 0; i < 1'000'000; ++i) ids.add_process({1, i}, i + 5);
  EXPECT_EQ(ids.process({1, 999'999}), 1'000'004);
  EXPECT_EQ(ids.process({1, 900'000}), 900'005);
  EXPECT_EQ(ids.process({1, 0}), std::nullopt);
}

}  // namespace
}  // namespace fathom
