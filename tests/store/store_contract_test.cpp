// SPDX-License-Identifier: Apache-2.0
// What every store promises, asked of the real engines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "store/store.h"
#include "support/redis_server.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class StoreContract : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "redis") {
      if (!RedisServer::available()) GTEST_SKIP() << "redis-server is not installed";
      redis_ = std::make_unique<RedisServer>();
    }
    store_ = open();
    ASSERT_TRUE(store_);
  }
  [[nodiscard]] std::string address() const {
    return redis_ ? redis_->url() : "sqlite:" + (folder_ / "hub.sqlite");
  }
  std::unique_ptr<Store> open() const {
    auto store = open_store(address());
    EXPECT_TRUE(store.ok()) << store.error().message;
    return store.ok() ? std::move(store).value() : nullptr;
  }
  // Another hub where several may share the store, else the same one.
  std::unique_ptr<Store> second() const { return redis_ ? open() : nullptr; }

  Applied apply(Change change) {
    auto applied = store_->apply(std::span(&change, 1));
    EXPECT_TRUE(applied.ok()) << applied.error().message;
    return applied.ok() ? applied.value().front() : Applied{};
  }
  // "symbol/program/event=sum unit", sorted.
  std::vector<std::string> sums(int64_t job) {
    std::vector<std::string> found;
    std::string from;
    do {
      auto page = store_->sums(job, from);
      if (!page.ok()) return {page.error().message};
      for (const SumRow& row : page.value().rows)
        found.push_back(row.symbol + "/" + row.program + "/" + row.event + "=" +
                        std::to_string(row.sum) + row.unit);
      from = page.value().next;
    } while (!from.empty());
    std::sort(found.begin(), found.end());
    return found;
  }

  TempFolder folder_;
  std::unique_ptr<RedisServer> redis_;
  std::unique_ptr<Store> store_;
};

Change change_of(uint64_t from, uint64_t to, int64_t delta, const std::string& run = "r1") {
  Change change;
  change.job = 2001;
  change.time_ns = 1'700'000'000'000'000'000;
  change.runs = {{run, "host-a", from, to}};
  change.sums = {{sum_key("main", "cc1", "cache-misses"), delta}};
  change.units = {{"cache-misses", "events"}};
  return change;
}

TEST_P(StoreContract, JobsAreUniqueNumberedAndRemembered) {
  ASSERT_TRUE(store_->create_job(2001, "first <b>\n\xff", "{\"os\":\"linux\"}").ok());
  EXPECT_EQ(store_->create_job(2001, "again", "{}").error().code, Code::kExists);
  EXPECT_EQ(store_->create_job(0, "", "{}").value().id, 2002);
  ASSERT_TRUE(store_->create_job(2004, "", "{}").ok());
  EXPECT_EQ(store_->create_job(0, "", "{}").value().id, 2003);
  EXPECT_EQ(store_->create_job(0, "", "{}").value().id, 2005);
  for (const int64_t wrong : {int64_t{1}, int64_t{-1}, int64_t{2000}, int64_t{10000}})
    EXPECT_EQ(store_->create_job(wrong, "", "{}").error().code, Code::kInvalid);
  EXPECT_EQ(store_->create_job(0, std::string(5000, 'x'), "{}").error().code, Code::kInvalid);
  store_.reset();
  store_ = open();
  const auto jobs = store_->jobs().value();
  ASSERT_EQ(jobs.size(), 5U);
  EXPECT_EQ(jobs[0].description, "first <b>\n\xff");
  EXPECT_EQ(jobs[0].labels, "{\"os\":\"linux\"}");
  EXPECT_GT(jobs[0].created_ns, 1'600'000'000'000'000'000);
}

TEST_P(StoreContract, TenAndSevenAreSeventeen) {
  ASSERT_TRUE(store_->create_job(2001, "", "{}").ok());
  EXPECT_EQ(apply(change_of(0, 1, 10)).how, Applied::How::kApplied);
  EXPECT_EQ(apply(change_of(1, 2, 7)).how, Applied::How::kApplied);
  EXPECT_THAT(sums(2001), ElementsAre("main/cc1/cache-misses=17events"));
}

TEST_P(StoreContract, WhatWasAppliedIsNotAppliedAgain) {
  ASSERT_TRUE(store_->create_job(2001, "", "{}").ok());
  apply(change_of(0, 3, 10));
  Change again = change_of(0, 3, 10);
  again.rows = {"{\"Exectime\":\"1\"}"};
  const Applied answer = apply(again);
  EXPECT_EQ(answer.how, Applied::How::kConflict);
  EXPECT_THAT(answer.stands, ElementsAre(std::pair<std::string, uint64_t>("r1", 3)));
  const Applied gap = apply(change_of(4, 5, 10));
  EXPECT_EQ(gap.how, Applied::How::kConflict);
  EXPECT_THAT(sums(2001), ElementsAre("main/cc1/cache-misses=10events"));
  EXPECT_EQ(store_->job(2001).value().rows, 0);
  EXPECT_EQ(store_->last_sequence(2001, "r1").value(), 3U);
  EXPECT_EQ(store_->last_sequence(2001, "other").value(), 0U);
}

TEST_P(StoreContract, ASequenceBeyondTheDoublesIsExact) {
  ASSERT_TRUE(store_->create_job(2001, "", "{}").ok());
  const uint64_t far = (uint64_t{1} << 62) + 1;
  EXPECT_EQ(apply(change_of(0, far, 1)).how, Applied::How::kApplied);
  EXPECT_EQ(apply(change_of(far - 1, far + 1, 1)).how, Applied::How::kConflict);
  EXPECT_EQ(apply(change_of(far, far + 1, 1)).how, Applied::How::kApplied);
}

TEST_P(StoreContract, SumsAreExactTo64BitsAndNoFurther) {
  ASSERT_TRUE(store_->create_job(2001, "", "{}").ok());
  const int64_t large = INT64_MAX - 7;
  EXPECT_EQ(apply(change_of(0, 1, large)).how, Applied::How::kApplied);
  Change over = change_of(1, 2, 8);
  over.sums.insert(over.sums.begin(), {sum_key("a", "b", "c"), 5});
  over.rows = {"{}"};
  const Applied refused = apply(over);
  EXPECT_EQ(refused.how, Applied::How::kRefused);
  EXPECT_THAT(refused.why, HasSubstr("64 bits"));
  const Applied first_of_two = apply(change_of(1, 2, 7));
  EXPECT_EQ(first_of_two.how, Applied::How::kApplied);
  EXPECT_EQ(store_->job(2001).value().rows, 0);
  const auto found = sums(2001);
  EXPECT_EQ(found.back(), "main/cc1/cache-misses=" + std::to_string(INT64_MAX) + "events");
  apply(change_of(2, 3, -1));
  EXPECT_EQ(sums(2001).back(), "main/cc1/cache-misses=" + std::to_string(INT64_MAX - 1) + "events");
}

TEST_P(StoreContract, SeveralChangesAtOnceAreAnsweredOneByOne) {
  ASSERT_TRUE(store_->create_job(2001, "", "{}").ok());
  std::vector<Change> changes = {change_of(0, 1, 1), change_of(5, 6, 100), change_of(0, 1, 2, "r2"),
                                 change_of(0, 1, 4, "r3")};
  changes[3].job = 2222;
  const auto answers = store_->apply(changes).value();
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(answers[0].how, Applied::How::kApplied);
  EXPECT_EQ(answers[1].how, Applied::How::kConflict);
  EXPECT_EQ(answers[2].how, Applied::How::kApplied);
  EXPECT_EQ(answers[3].how, Applied::How::kNoJob);
  EXPECT_THAT(sums(2001), ElementsAre("main/cc1/cache-misses=3events"));
}

TEST_P(StoreContract, NodesAreSymbolAndProgramWithAnyEvents) {
  ASSERT_TRUE(store_->create_job(2001, "", "{}").ok());
  Change change = change_of(0, 1, 1);
  const std::string hostile = "<script>\n\"\xff\xfe" + std::string(10'000, 'x');
  change.sums = {{sum_key("main", "a", "x"), 1},
                 {sum_key("main", "b", "x"), 2},
                 {sum_key("main", "b", "y"), 3},
                 {sum_key(hostile, "b", "y"), 4}};
  change.units = {};
  apply(change);
  EXPECT_THAT(sums(2001),
              ElementsAre(hostile + "/b/y=4", "main/a/x=1", "main/b/x=2", "main/b/y=3"));
}

TEST_P(StoreContract, ManySumsComeInPagesThatCutNoNode) {
  ASSERT_TRUE(store_->create_job(2001, "", "{}").ok());
  Change change = change_of(0, 1, 1);
  change.sums.clear();
  for (int i = 0; i < 25'000; ++i)
    change.sums.push_back(
        {sum_key("f" + std::to_string(i / 3), "p", "e" + std::to_string(i % 3)), i});
  apply(change);
  std::map<std::string, int> events;
  std::string from;
  int64_t total = 0;
  do {
    const auto page = store_->sums(2001, from).value();
    std::map<std::string, int> here;
    for (const SumRow& row : page.rows) {
      ++here[row.symbol];
      total += row.sum;
    }
    for (const auto& [symbol, count] : here) EXPECT_EQ(events.emplace(symbol, count).second, true);
    from = page.next;
  } while (!from.empty());
  EXPECT_EQ(events.size(), 8334U);
  EXPECT_EQ(total, int64_t{25'000} * 24'999 / 2);
}

TEST_P(StoreContract, RowsAreNumberedReadInPagesAndCleared) {
  ASSERT_TRUE(store_->create_job(2001, "", "{}").ok());
  Change change = change_of(0, 1, 1);
  change.rows = {"{\"a\":1}", "{\"a\":2}"};
  apply(change);
  Change more = change_of(1, 2, 1);
  more.rows = {"{\"a\":3}"};
  apply(more);
  EXPECT_THAT(store_->rows(2001, 0, 100).value(),
              ElementsAre("{\"a\":1}", "{\"a\":2}", "{\"a\":3}"));
  EXPECT_THAT(store_->rows(2001, 1, 1).value(), ElementsAre("{\"a\":2}"));
  EXPECT_EQ(store_->jobs().value()[0].rows, 3);
  ASSERT_TRUE(store_->clear_rows(2001).ok());
  EXPECT_EQ(store_->job(2001).value().rows, 0);
  EXPECT_EQ(store_->clear_rows(2999).error().code, Code::kNotFound);
  EXPECT_EQ(sums(2001).size(), 1U) << "sums stay";
}

TEST_P(StoreContract, RemovedJobsAreGoneWithAllTheyHad) {
  ASSERT_TRUE(store_->create_job(2001, "", "{}").ok());
  Change change = change_of(0, 1, 1);
  change.rows = {"{}"};
  change.marks = {{1, "m"}};
  change.gauges = {{"g", "s", "app", 1.5, 2}};
  apply(change);
  ASSERT_TRUE(store_->remove_job(2001).ok());
  EXPECT_EQ(store_->remove_job(2001).error().code, Code::kNotFound);
  EXPECT_EQ(apply(change_of(1, 2, 1)).how, Applied::How::kNoJob);
  ASSERT_TRUE(store_->create_job(2001, "", "{}").ok());
  EXPECT_TRUE(sums(2001).empty());
  EXPECT_TRUE(store_->runs(2001).value().empty());
  EXPECT_TRUE(store_->marks(2001).value().empty());
  EXPECT_TRUE(store_->gauges(2001).value().empty());
  EXPECT_EQ(store_->job(2001).value().rows, 0);
}

TEST_P(StoreContract, HostAndTimesOfRunsAndTheLastGaugesAreKept) {
  ASSERT_TRUE(store_->create_job(2001, "", "{}").ok());
  Change change = change_of(0, 1, 1);
  change.gauges = {{"loss", "", "app", 0.1, 5}};
  change.marks = {{7, "begin \"x\"\n"}};
  apply(change);
  change = change_of(1, 4, 1);
  change.time_ns += 5;
  change.gauges = {{"loss", "", "app", 1.0 / 3, 9}};
  apply(change);
  const auto runs = store_->runs(2001).value();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].host, "host-a");
  EXPECT_EQ(runs[0].sequence, 4U);
  EXPECT_EQ(runs[0].last_ns - runs[0].first_ns, 5);
  EXPECT_THAT(store_->gauges(2001).value(), ElementsAre(GaugeValue{"loss", "", "app", 1.0 / 3, 9}));
  EXPECT_THAT(store_->marks(2001).value(), ElementsAre(MarkText{7, "begin \"x\"\n"}));
}

TEST_P(StoreContract, ThreadsThatRaceAddUpExactly) {
  ASSERT_TRUE(store_->create_job(2001, "", "{}").ok());
  const auto other = second();
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      Store& store = thread % 2 == 1 && other ? *other : *store_;
      // Two threads race for every run: whoever comes late is told.
      const std::string run = "r" + std::to_string(thread / 2);
      uint64_t stands = 0;
      while (stands < 50) {
        const Change change = change_of(stands, stands + 1, 3, run);
        const auto answer = store.apply(std::span(&change, 1));
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        const Applied& applied = answer.value().front();
        stands = applied.how == Applied::How::kApplied ? stands + 1 : applied.stands.front().second;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(sums(2001), ElementsAre("main/cc1/cache-misses=300events"));
}

TEST_P(StoreContract, EventsReachListenersAlsoOfOtherHubs) {
  ASSERT_TRUE(store_->create_job(2001, "", "{}").ok());
  const auto other = second();
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> heard;
  (other ? *other : *store_)
      .listen(
          [&](int64_t job, const std::string& event) {
            const std::lock_guard lock(mutex);
            heard.push_back(std::to_string(job) + event);
            changed.notify_all();
          },
          {});
  for (uint64_t i = 0; i < 3; ++i) {
    Change change = change_of(i, i + 1, 1);
    change.event = "e" + std::to_string(i);
    apply(change);
  }
  std::unique_lock lock(mutex);
  changed.wait_for(lock, std::chrono::seconds(20), [&] { return heard.size() == 3; });
  EXPECT_THAT(heard, ElementsAre("2001e0", "2001e1", "2001e2"));
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreContract, testing::Values("sqlite", "redis"),
                         [](const auto& engine) { return engine.param; });

}  // namespace
}  // namespace fathom
