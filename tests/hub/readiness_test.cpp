// SPDX-License-Identifier: Apache-2.0
#include "hub/readiness.h"

#include <gtest/gtest.h>

#include <future>

#include "base/clock.h"
#include "support/temp_folder.h"
#include "support/wrapped_store.h"

namespace fathom {
namespace {

// Counts how often it is checked, and is full where it is told to be.
class Watched final : public WrappedStore {
 public:
  using WrappedStore::WrappedStore;
  int checks = 0;
  std::atomic<bool> is_full{false};

  Status ready() override {
    ++checks;
    return real().ready();
  }
  Result<std::vector<Applied>> apply(std::span<const Change> changes) override {
    if (is_full) return Error{Code::kNoSpace, "the disk is full"};
    return real().apply(changes);
  }
};

class ReadinessTest : public testing::Test {
 protected:
  ReadinessTest() : store_(open_store("sqlite:" + (folder_ / "hub.sqlite")).value()) {
    EXPECT_TRUE(store_.create_job(2001, "", "{}").ok());
  }
  Outcome send(uint64_t sequence) {
    auto promise = std::make_shared<std::promise<Outcome>>();
    Incoming incoming{2001, "r", "h", sequence, {}, {}};
    incoming.data.sums = {{sum_key("f", "p", "e"), 1}};
    incoming.done = [promise](Outcome outcome) { promise->set_value(std::move(outcome)); };
    committer_.submit(std::move(incoming));
    return promise->get_future().get();
  }

  TempFolder folder_;
  Watched store_;
  Committer committer_{store_, 60 * kNsPerSecond};
  Readiness readiness_{store_, committer_};
};

TEST_F(ReadinessTest, TheStoreIsCheckedOncePerSecond) {
  for (int i = 0; i < 1000; ++i)
    EXPECT_TRUE(readiness_.check(i * (Readiness::kCheckNs / 1000)).ok());
  EXPECT_EQ(store_.checks, 1);
  EXPECT_TRUE(readiness_.check(Readiness::kCheckNs).ok());
  EXPECT_EQ(store_.checks, 2);
}

TEST_F(ReadinessTest, AFullStoreFailsBatchesAtOnceAndIsNotReadyUntilOneIsStored) {
  EXPECT_TRUE(readiness_.check(monotonic_ns()).ok());
  store_.is_full = true;
  const Outcome outcome = send(1);  // although batches may wait for a minute
  EXPECT_EQ(outcome.how, Outcome::How::kFull);
  EXPECT_EQ(outcome.why, "the disk is full");
  EXPECT_EQ(readiness_.check(monotonic_ns()).error().code, Code::kNoSpace);
  store_.is_full = false;
  EXPECT_EQ(send(1).how, Outcome::How::kApplied);
  EXPECT_TRUE(readiness_.check(monotonic_ns()).ok());
}

}  // namespace
}  // namespace fathom
