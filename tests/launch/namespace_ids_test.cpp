// SPDX-License-Identifier: Apache-2.0
#include "launch/namespace_ids.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(NamespaceIds, TheLastIdIsTheInnermost) {
  EXPECT_EQ(parse_innermost_id("Name:\tx\nNSpid:\t1234\t7\nNSpgid:\t9\t9\n"), 7);
  EXPECT_EQ(parse_innermost_id("Name:\tx\nNSpid:\t1234\n"), 1234);
  EXPECT_EQ(parse_innermost_id("Name:\tx\n"), std::nullopt);
}

TEST(NamespaceIds, WithoutATargetIdsStay) {
  NamespaceIds ids;
  ids.look();
  EXPECT_EQ(ids.process(5, 7), 7);
  EXPECT_EQ(ids.missing(), "");
}

}  // namespace
}  // namespace fathom
