// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_join.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

// Innermost first: pairs of address and frame address.
UnwoundStack stack_of(UnwindEnd end, std::initializer_list<std::pair<uint64_t, uint64_t>> frames) {
  UnwoundStack stack;
  stack.end = end;
  for (const auto& [address, cfa] : frames)
    stack.frames.push_back(
        {address, cfa, stack.frames.empty() ? UnwoundKind::kSampled : UnwoundKind::kCall, false});
  return stack;
}

const UnwoundStack kWhole =
    stack_of(UnwindEnd::kRoot, {{10, 100}, {20, 200}, {30, 300}, {40, 400}, {50, 500}});

TEST(StackJoiner, JoinsWhereFrameAndAddressAgree) {
  StackJoiner joiner;
  UnwoundStack whole = kWhole;
  EXPECT_EQ(joiner.add(1, whole), StackJoiner::Outcome::kComplete);
  UnwoundStack cut = stack_of(UnwindEnd::kCut, {{11, 90}, {25, 210}, {30, 300}});
  EXPECT_EQ(joiner.add(1, cut), StackJoiner::Outcome::kJoined);
  EXPECT_EQ(cut.end, UnwindEnd::kCut);
  ASSERT_EQ(cut.frames.size(), 5U);
  EXPECT_EQ(cut.frames[3].address, 40U);
  EXPECT_EQ(cut.frames[4].address, 50U);
  EXPECT_EQ(joiner.counts().joined, 1U);
}

TEST(StackJoiner, DoesNotGuess) {
  StackJoiner joiner;
  UnwoundStack whole = kWhole;
  joiner.add(1, whole);
  const auto not_joined = [&](uint64_t thread, UnwoundStack stack) {
    const size_t size = stack.frames.size();
    EXPECT_EQ(joiner.add(thread, stack), StackJoiner::Outcome::kNotJoined);
    EXPECT_EQ(stack.frames.size(), size);
  };
  not_joined(1, stack_of(UnwindEnd::kCut, {{11, 90}, {30, 304}}));      // another frame
  not_joined(1, stack_of(UnwindEnd::kCut, {{11, 90}, {31, 300}}));      // another call
  not_joined(1, stack_of(UnwindEnd::kCut, {{11, 90}, {30, 0}}));        // not known
  not_joined(1, stack_of(UnwindEnd::kNoTable, {{11, 90}, {30, 300}}));  // not cut
  not_joined(2, stack_of(UnwindEnd::kCut, {{11, 90}, {30, 300}}));      // another thread
  joiner.forget(1);
  not_joined(1, stack_of(UnwindEnd::kCut, {{11, 90}, {30, 300}}));
  not_joined(1, UnwoundStack{{}, UnwindEnd::kCut, 8, 0});
}

TEST(StackJoiner, IsBounded) {
  StackJoiner joiner(8);
  for (uint64_t thread = 0; thread < 100; ++thread) {
    UnwoundStack whole = kWhole;
    joiner.add(thread, whole);
  }
  const auto joined = [&](uint64_t thread) {
    UnwoundStack cut = stack_of(UnwindEnd::kCut, {{11, 90}, {30, 300}});
    return joiner.add(thread, cut) == StackJoiner::Outcome::kJoined;
  };
  EXPECT_TRUE(joined(99));
  EXPECT_FALSE(joined(0));
}

}  // namespace
}  // namespace fathom
