// SPDX-License-Identifier: Apache-2.0
// The committer in front of a real store, and of one that fails as stores do.
#include "hub/committer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "base/clock.h"
#include "support/temp_folder.h"
#include "support/wrapped_store.h"

namespace fathom {
namespace {

using testing::HasSubstr;

// A real store whose answers can be lost, before or after it has done its work.
class Fragile final : public WrappedStore {
 public:
  using WrappedStore::WrappedStore;
  std::atomic<int> fail_before{0}, lose_answers{0}, calls{0};

  Result<std::vector<Applied>> apply(std::span<const Change> changes) override {
    ++calls;
    if (fail_before > 0 && fail_before-- > 0) return Error{Code::kIo, "the store is away"};
    auto answers = real().apply(changes);
    if (lose_answers > 0 && lose_answers-- > 0) return Error{Code::kIo, "the answer is lost"};
    return answers;
  }
};

class CommitterTest : public testing::Test {
 protected:
  CommitterTest() : store_(open_store("sqlite:" + (folder_ / "hub.sqlite")).value()) {
    EXPECT_TRUE(store_.create_job(2001, "", "{}").ok());
  }
  std::future<Outcome> send(Committer& committer, uint64_t sequence, int64_t delta,
                            const std::string& run = "r", int64_t job = 2001) {
    auto promise = std::make_shared<std::promise<Outcome>>();
    Incoming incoming{job, run, "h", sequence, {}, {}};
    incoming.data.sums = {{sum_key("f", "p", "e"), delta}};
    incoming.data.rows = {"{\"run\":\"" + run + "\",\"n\":" + std::to_string(sequence) + "}"};
    incoming.data.updates = 1;
    incoming.done = [promise](Outcome outcome) { promise->set_value(std::move(outcome)); };
    committer.submit(std::move(incoming));
    return promise->get_future();
  }
  int64_t sum() {
    const auto page = store_.sums(2001, "").value();
    return page.rows.empty() ? 0 : page.rows[0].sum;
  }

  TempFolder folder_;
  Fragile store_;
};

TEST_F(CommitterTest, AppliesInOrderAndAcknowledges) {
  Committer committer(store_, kNsPerSecond);
  auto first = send(committer, 1, 10);
  auto second = send(committer, 2, 7);
  EXPECT_EQ(first.get().how, Outcome::How::kApplied);
  EXPECT_EQ(second.get().acknowledged, 2U);
  EXPECT_EQ(sum(), 17);
}

TEST_F(CommitterTest, DuplicatesCountOnceAndGapsAreRefused) {
  Committer committer(store_, kNsPerSecond);
  EXPECT_EQ(send(committer, 1, 10).get().how, Outcome::How::kApplied);
  EXPECT_EQ(send(committer, 1, 10).get().how, Outcome::How::kApplied);
  const Outcome gap = send(committer, 3, 10).get();
  EXPECT_EQ(gap.how, Outcome::How::kGap);
  EXPECT_EQ(gap.acknowledged, 1U);
  EXPECT_EQ(sum(), 10);
  EXPECT_EQ(committer.counts().duplicates, 1);
}

TEST_F(CommitterTest, DuplicatesInOneStepCountOnce) {
  store_.fail_before = 3;  // so that they gather
  Committer committer(store_, 10 * kNsPerSecond);
  std::vector<std::future<Outcome>> outcomes;
  for (const uint64_t sequence : {1U, 1U, 2U, 2U, 1U, 3U, 3U})
    outcomes.push_back(send(committer, sequence, 1));
  for (auto& outcome : outcomes) EXPECT_EQ(outcome.get().how, Outcome::How::kApplied);
  EXPECT_EQ(sum(), 3);
  EXPECT_EQ(store_.job(2001).value().rows, 3);
}

TEST_F(CommitterTest, LostAnswersAreAskedAgainAndCountOnce) {
  Committer committer(store_, 10 * kNsPerSecond);
  for (uint64_t i = 1; i <= 20; ++i) {
    store_.lose_answers = 1 + static_cast<int>(i % 3);
    EXPECT_EQ(send(committer, i, 1).get().how, Outcome::How::kApplied);
  }
  EXPECT_EQ(sum(), 20);
  EXPECT_EQ(store_.job(2001).value().rows, 20);
}

TEST_F(CommitterTest, AStoreThatStaysAwayIsGivenUpAndNothingAcknowledged) {
  Committer committer(store_, 100 * kNsPerMs);
  store_.fail_before = 1'000'000;
  const Outcome outcome = send(committer, 1, 1).get();
  EXPECT_EQ(outcome.how, Outcome::How::kUnavailable);
  EXPECT_THAT(outcome.why, HasSubstr("away"));
  store_.fail_before = 0;
  EXPECT_EQ(send(committer, 1, 1).get().how, Outcome::How::kApplied);
  EXPECT_EQ(sum(), 1);
}

TEST_F(CommitterTest, OneBatchBeyond64BitsSpoilsNoOther) {
  Committer committer(store_, kNsPerSecond);
  EXPECT_EQ(send(committer, 1, INT64_MAX - 10, "big").get().how, Outcome::How::kApplied);
  store_.fail_before = 2;  // so that they gather
  auto before = send(committer, 1, 3, "a");
  auto over = send(committer, 2, INT64_MAX - 5, "big");
  auto after = send(committer, 1, 4, "b");
  EXPECT_EQ(before.get().how, Outcome::How::kApplied);
  const Outcome refused = over.get();
  EXPECT_EQ(refused.how, Outcome::How::kRefused);
  EXPECT_THAT(refused.why, HasSubstr("64 bits"));
  EXPECT_EQ(after.get().how, Outcome::How::kApplied);
  EXPECT_EQ(sum(), INT64_MAX - 3);
}

// Small batches are stored before several large ones, but after those of their own run.
TEST_F(CommitterTest, LargeBatchesAreStoredOneByOneBesideSmallOnes) {
  std::vector<std::string> order;  // only the committer's thread calls done
  Committer committer(store_, 60 * kNsPerSecond);
  store_.fail_before = 1'000'000;  // so that they gather
  std::vector<std::future<Outcome>> outcomes;
  const auto submit = [&](const std::string& run, uint64_t sequence, int count) {
    auto promise = std::make_shared<std::promise<Outcome>>();
    Incoming incoming{2001, run, "h", sequence, {}, {}};
    for (int i = 0; i < count; ++i)
      incoming.data.sums.push_back({sum_key("f" + std::to_string(i), "p", "e"), 1});
    incoming.done = [&order, promise, run, sequence](Outcome outcome) {
      order.push_back(run + std::to_string(sequence));
      promise->set_value(std::move(outcome));
    };
    outcomes.push_back(promise->get_future());
    committer.submit(std::move(incoming));
  };
  submit("first", 1, 1);
  for (int i = 1; i <= 3; ++i) submit("large", static_cast<uint64_t>(i), 60'000);
  submit("large", 4, 1);
  submit("small", 1, 1);
  store_.fail_before = 0;
  for (auto& outcome : outcomes) EXPECT_EQ(outcome.get().how, Outcome::How::kApplied);
  const auto place = [&](const std::string& name) {
    return std::find(order.begin(), order.end(), name) - order.begin();
  };
  EXPECT_LT(place("small1"), place("large2"));
  EXPECT_LT(place("large3"), place("large4"));
  EXPECT_EQ(sum(), 5 + 1);
}

// Half of a thousand batches cannot be stored; each costs a few steps, not one per batch that
// waits.
TEST_F(CommitterTest, ManyBatchesBeyond64BitsAreFoundInFewSteps) {
  Committer committer(store_, 10 * kNsPerSecond);
  EXPECT_EQ(send(committer, 1, INT64_MAX - 500, "big").get().how, Outcome::How::kApplied);
  store_.fail_before = 3;  // so that they gather
  store_.calls = 0;
  std::vector<std::future<Outcome>> good, bad;
  for (int i = 0; i < 500; ++i) {
    bad.push_back(send(committer, 1, INT64_MAX / 2, "bad" + std::to_string(i)));
    good.push_back(send(committer, 1, 1, "good" + std::to_string(i)));
  }
  for (auto& outcome : good) EXPECT_EQ(outcome.get().how, Outcome::How::kApplied);
  for (auto& outcome : bad) EXPECT_EQ(outcome.get().how, Outcome::How::kRefused);
  EXPECT_EQ(sum(), INT64_MAX);
  EXPECT_LT(store_.calls, 500 * 10 * 2);
}

TEST_F(CommitterTest, ABatchThatIsBeyond64BitsAloneIsRefusedBesideOthers) {
  Committer committer(store_, 10 * kNsPerSecond);
  store_.fail_before = 2;  // so that they gather
  auto before = send(committer, 1, 3, "a");
  auto promise = std::make_shared<std::promise<Outcome>>();
  Incoming alone{2001, "r", "h", 1, {}, {}};
  alone.data.sums = {{sum_key("g", "p", "e"), INT64_MAX}, {sum_key("g", "p", "e"), 1}};
  alone.done = [promise](Outcome outcome) { promise->set_value(std::move(outcome)); };
  committer.submit(std::move(alone));
  auto after = send(committer, 1, 4, "b");
  EXPECT_EQ(before.get().how, Outcome::How::kApplied);
  EXPECT_EQ(promise->get_future().get().how, Outcome::How::kRefused);
  EXPECT_EQ(after.get().how, Outcome::How::kApplied);
  EXPECT_EQ(sum(), 7);
}

// A refused batch leaves a gap for the next one of its run.
TEST_F(CommitterTest, WhatFollowsARefusedBatchOfItsRunIsAGap) {
  Committer committer(store_, 10 * kNsPerSecond);
  EXPECT_EQ(send(committer, 1, INT64_MAX - 10, "big").get().how, Outcome::How::kApplied);
  store_.fail_before = 2;  // so that they gather
  auto first = send(committer, 1, 3, "r"), over = send(committer, 2, INT64_MAX - 5, "r"),
       next = send(committer, 3, 3, "r"), other = send(committer, 1, 3, "s");
  EXPECT_EQ(first.get().how, Outcome::How::kApplied);
  EXPECT_EQ(over.get().how, Outcome::How::kRefused);
  EXPECT_EQ(next.get().how, Outcome::How::kGap);
  EXPECT_EQ(other.get().how, Outcome::How::kApplied);
  EXPECT_EQ(sum(), INT64_MAX - 4);
}

TEST_F(CommitterTest, JobsThatAreNotThereAreNamed) {
  Committer committer(store_, kNsPerSecond);
  EXPECT_EQ(send(committer, 1, 1, "r", 2999).get().how, Outcome::How::kNoJob);
}

TEST_F(CommitterTest, AJobMadeAnewStartsAnew) {
  Committer committer(store_, kNsPerSecond);
  EXPECT_EQ(send(committer, 1, 5).get().how, Outcome::How::kApplied);
  ASSERT_TRUE(store_.remove_job(2001).ok());  // by another hub: this one is not told
  ASSERT_TRUE(store_.create_job(2001, "", "{}").ok());
  EXPECT_EQ(send(committer, 1, 6).get().how, Outcome::How::kApplied);
  EXPECT_EQ(sum(), 6);
}

TEST_F(CommitterTest, TwoCommittersOnOneStoreAddUpExactly) {
  Committer left(store_, kNsPerSecond), right(store_, kNsPerSecond);
  std::vector<std::future<Outcome>> outcomes;
  for (uint64_t i = 1; i <= 200; ++i) {
    // The run moves from hub to hub, and half of it is sent to both.
    Committer& one = i % 2 == 0 ? left : right;
    Committer& other = i % 2 == 0 ? right : left;
    EXPECT_EQ(send(one, i, 1).get().how, Outcome::How::kApplied);
    if (i % 4 == 0) {
      EXPECT_EQ(send(other, i, 1).get().how, Outcome::How::kApplied);
    }
  }
  EXPECT_EQ(sum(), 200);
}

TEST_F(CommitterTest, AfterItsEndItTakesNothing) {
  Committer committer(store_, kNsPerSecond);
  auto last = send(committer, 1, 1);
  committer.stop();
  EXPECT_EQ(last.get().how, Outcome::How::kApplied);
  EXPECT_EQ(send(committer, 2, 1).get().how, Outcome::How::kUnavailable);
}

}  // namespace
}  // namespace fathom
