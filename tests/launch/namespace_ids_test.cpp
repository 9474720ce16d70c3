// SPDX-License-Identifier: Apache-2.0
#include "launch/namespace_ids.h"

#include <gtest/gtest.h>

#include "support/still_target.h"

namespace fathom {
namespace {

TEST(NamespaceIds, TheLastIdIsTheInnermost) {
  EXPECT_EQ(parse_innermost_id("Name:\tx\nNSpid:\t1234\t7\nNSpgid:\t9\t9\n"), 7);
  EXPECT_EQ(parse_innermost_id("Name:\tx\nNSpid:\t1234\n"), 1234);
  EXPECT_EQ(parse_innermost_id("Name:\tx\n"), std::nullopt);
}

class TargetInAContainer final : public StillTarget {
 public:
  [[nodiscard]] Scope scope() const override {
    Scope scope = StillTarget::scope();
    scope.reaped = false;
    return scope;
  }
};

TEST(NamespaceIds, WhoIsNotKnownIsAskedForOnce) {
  TargetInAContainer target;
  int asked = 0;
  target.inner_ids().learn_by([&] {
    ++asked;
    target.inner_ids().add_process({5, 7}, 4242);
  });
  NamespaceIds ids;
  ids.watch(&target);
  EXPECT_EQ(ids.process(5, 7), 4242);
  EXPECT_EQ(ids.process(5, 7), 4242);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(ids.missing(), "");
  EXPECT_EQ(ids.thread(5, 8), 8);
  EXPECT_EQ(ids.thread(5, 8), 8);
  EXPECT_EQ(asked, 2);
  EXPECT_NE(ids.missing(), "");
}

TEST(NamespaceIds, IdsOfOurOwnNamespaceStay) {
  TargetInAContainer target;
  NamespaceIds ids;
  ids.watch(&target);
  EXPECT_EQ(ids.process(own_pid_namespace(), 7), 7);
  EXPECT_EQ(ids.missing(), "");
}

TEST(NamespaceIds, WithoutATargetIdsStay) {
  NamespaceIds ids;
  ids.look();
  EXPECT_EQ(ids.process(5, 7), 7);
  EXPECT_EQ(ids.missing(), "");
}

}  // namespace
}  // namespace fathom
