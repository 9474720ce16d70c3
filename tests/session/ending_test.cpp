// SPDX-License-Identifier: Apache-2.0
#include "session/ending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/still_target.h"

namespace fathom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kGrace = 5 * kNsPerSecond;

class SignalledTarget final : public StillTarget {
 public:
  void signal(int number) override { sent.push_back(number); }
  [[nodiscard]] Scope scope() const override {
    return {.kind = Scope::Kind::kTree, .roots = {1}, .attached = attached, .title = {}};
  }

  bool attached = false;
  std::vector<int> sent;
};

class EndingTest : public ::testing::Test {
 protected:
  // What was sent since the last call.
  std::vector<int> sent() { return std::exchange(target_.sent, {}); }

  SignalledTarget target_;
  Ending ending_{target_, kGrace};
};

TEST_F(EndingTest, NothingHappensByItself) {
  ending_.check(1000 * kNsPerSecond);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_FALSE(ending_.begun());
}

TEST_F(EndingTest, DurationSendsTermAndKillAfterTheGrace) {
  ending_.begin(EndReason::kDuration, SIGTERM, 100);
  EXPECT_THAT(sent(), ElementsAre(SIGTERM, SIGCONT));
  EXPECT_EQ(ending_.next_ns(), 100 + kGrace);
  ending_.check(100 + kGrace - 1);
  EXPECT_THAT(sent(), IsEmpty());
  ending_.check(100 + kGrace);
  EXPECT_THAT(sent(), ElementsAre(SIGKILL));
  EXPECT_EQ(ending_.reason(), EndReason::kDuration);
}

TEST_F(EndingTest, KillIsRepeated) {
  ending_.begin(EndReason::kTimeout, SIGTERM, 0);
  ending_.check(kGrace);
  sent();
  ending_.check(kGrace + kNsPerSecond);
  EXPECT_THAT(sent(), ElementsAre(SIGKILL));
}

TEST_F(EndingTest, InterruptIsPassedOnThenTermThenKill) {
  ending_.forward(SIGINT, 0);
  EXPECT_THAT(sent(), ElementsAre(SIGINT, SIGCONT));
  ending_.check(kGrace);
  EXPECT_THAT(sent(), ElementsAre(SIGTERM, SIGCONT));
  ending_.check(2 * kGrace);
  EXPECT_THAT(sent(), ElementsAre(SIGKILL));
  EXPECT_EQ(ending_.reason(), EndReason::kInterrupted);
}

TEST_F(EndingTest, ASecondSignalDoesNotWait) {
  ending_.forward(SIGINT, 0);
  sent();
  ending_.forward(SIGINT, 1);
  EXPECT_THAT(sent(), ElementsAre(SIGTERM, SIGCONT));
  EXPECT_EQ(ending_.next_ns(), 1 + kGrace);
  ending_.forward(SIGINT, 2);
  EXPECT_THAT(sent(), ElementsAre(SIGKILL));
}

TEST_F(EndingTest, ASignalAfterTermKills) {
  ending_.forward(SIGTERM, 0);
  EXPECT_THAT(sent(), ElementsAre(SIGTERM, SIGCONT));
  ending_.forward(SIGTERM, 1);
  EXPECT_THAT(sent(), ElementsAre(SIGKILL));
}

TEST_F(EndingTest, EverySignalThatAsksIsPassedOnAsItIs) {
  for (const int number : {SIGINT, SIGTERM}) {
    Ending ending(target_, kGrace);
    ending.forward(number, 0);
    EXPECT_EQ(sent().front(), number);
    EXPECT_TRUE(ending.begun());
  }
}

TEST_F(EndingTest, OtherSignalsArePassedOnAndEndNothing) {
  for (const int number : {SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH}) {
    ending_.forward(number, 0);
    EXPECT_THAT(sent(), ElementsAre(number));
  }
  EXPECT_FALSE(ending_.begun());
}

TEST_F(EndingTest, TheFirstReasonStays) {
  ending_.begin(EndReason::kDuration, SIGTERM, 0);
  ending_.forward(SIGINT, 1);
  EXPECT_EQ(ending_.reason(), EndReason::kDuration);
}

// What runs already is not ours to end.
TEST(EndingOfAnAttachedTarget, SendsNothingAndIsOverAtOnce) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    SignalledTarget target;
    target.attached = true;
    Ending ending(target, kGrace);
    EXPECT_FALSE(ending.detached());
    ending.forward(number, 0);
    EXPECT_TRUE(ending.detached());
    ending.forward(number, 1);
    ending.check(100 * kGrace);
    EXPECT_THAT(target.sent, IsEmpty());
    EXPECT_EQ(ending.reason(), EndReason::kInterrupted);
  }
}

TEST(EndingOfAnAttachedTarget, LimitsSendNothing) {
  for (const EndReason reason : {EndReason::kDuration, EndReason::kTimeout}) {
    SignalledTarget target;
    target.attached = true;
    Ending ending(target, kGrace);
    ending.begin(reason, SIGTERM, 0);
    EXPECT_TRUE(ending.detached());
    EXPECT_THAT(target.sent, IsEmpty());
    EXPECT_EQ(ending.reason(), reason);
  }
}

TEST(EndingOfAnAttachedTarget, OtherSignalsAreNobodys) {
  SignalledTarget target;
  target.attached = true;
  Ending ending(target, kGrace);
  for (const int number : {SIGUSR1, SIGUSR2, SIGWINCH}) ending.forward(number, 0);
  EXPECT_FALSE(ending.detached());
  EXPECT_THAT(target.sent, IsEmpty());
}

TEST_F(EndingTest, AStartedTargetIsNeverDetached) {
  ending_.forward(SIGINT, 0);
  EXPECT_TRUE(ending_.begun());
  EXPECT_FALSE(ending_.detached());
}

}  // namespace
}  // namespace fathom
