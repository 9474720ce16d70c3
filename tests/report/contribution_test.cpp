// SPDX-License-Identifier: Apache-2.0
#include "report/contribution.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Contribution, CleansAsTheToolDoes) {
  EXPECT_EQ(clean_trace("java;thread;a;b"), "a;b");
  EXPECT_EQ(clean_trace("java;thread;a;[libc.so];x;[k];b"), "a;b");
  EXPECT_EQ(clean_trace("java;t;Interpreter;a1;b22"), "a;b");
  EXPECT_EQ(clean_trace("java;t;a.1.b;c..2.d"), "a.b;c..d") << "digits go first, then .. is .";
  EXPECT_EQ(clean_trace("java;t;;;a;12;b"), "a;b");
  EXPECT_EQ(clean_trace("java;t"), "");
  EXPECT_EQ(clean_trace("java"), "");
  EXPECT_EQ(clean_trace("java;t;]a["), "]a[");
}

std::vector<Traces> three() {
  std::vector<Traces> all(3);
  for (const auto& [which, stack, samples] :
       {std::tuple(0, "p;t;a", 10), std::tuple(0, "p;t;a", 5), std::tuple(0, "p;t;b", 1),
        std::tuple(0, "p;t;c", 2), std::tuple(1, "p;t;a", 20), std::tuple(1, "p;t;b", 1),
        std::tuple(1, "p;t;d", 4), std::tuple(2, "p;t;a", 3), std::tuple(2, "p;t;e", 7)})
    all[static_cast<size_t>(which)].add(stack, samples);
  return all;
}

TEST(Contribution, CompatibleDropsWhatOccursTwice) {
  const auto shares = compatible_shares(three());
  // Once each: b c | a b d | a e; of these together only c, d and e occur once.
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_EQ(shares[0].mine, 2);
  EXPECT_EQ(shares[1].mine, 3);
  EXPECT_EQ(shares[2].mine, 2);
  for (const CompatibleShare& share : shares) EXPECT_EQ(share.all, 3);
  EXPECT_EQ(shares[0].percent(), 66) << "truncated";
}

TEST(Contribution, CorrectCountsDistinctExclusiveAndCommon) {
  const Contributions found = contributions(three());
  EXPECT_EQ(found.distinct, 5);
  EXPECT_EQ(found.common, 1);
  EXPECT_EQ(found.samples, 53);
  EXPECT_EQ(found.each[0].distinct, 3);
  EXPECT_EQ(found.each[0].exclusive, 1);
  EXPECT_EQ(found.each[0].common, 1);
  EXPECT_EQ(found.each[0].samples, 18);
  EXPECT_EQ(found.each[0].exclusive_samples, 2);
  EXPECT_EQ(found.each[0].covered_samples, 38 + 2 + 2);
  EXPECT_EQ(found.each[2].exclusive_samples, 7);
}

TEST(Contribution, NothingIsOfNothing) {
  std::vector<Traces> all(2);
  all[0].add("short", 3);
  EXPECT_EQ(compatible_shares(all)[1].percent(), 0);
  EXPECT_EQ(contributions(all).distinct, 0) << "what is cleaned away is no stack";
}

}  // namespace
}  // namespace fathom
