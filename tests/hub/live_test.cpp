// SPDX-License-Identifier: Apache-2.0
#include "hub/live.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using testing::HasSubstr;

// All that waits, however often take() must be called, and the number of events lost.
std::string drain(Subscription& reader) {
  std::string text;
  for (std::string part; !(part = reader.take()).empty();) text += part;
  return text;
}

int count(const std::string& text, const std::string& wanted) {
  int found = 0;
  for (size_t at = 0; (at = text.find(wanted, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(Live, ReadersShareTheirEventsAndMemoryIsReturned) {
  std::atomic<int64_t> total{0};
  {
    Live live(total);
    std::vector<std::shared_ptr<Subscription>> readers;
    for (int i = 0; i < 100; ++i) readers.push_back(live.subscribe(i % 2 == 0 ? 0 : 2001));
    for (int i = 0; i < 10; ++i) live.publish(2001, std::string(10'000, 'x'));
    EXPECT_GE(total, 100'000);
    EXPECT_LT(total, 102'000);
    for (const auto& reader : readers) EXPECT_EQ(count(drain(*reader), "event: change\n"), 10);
    EXPECT_EQ(total, 0);
    live.publish(2001, std::string(10'000, 'x'));
    readers.clear();
    EXPECT_EQ(total, 0);
  }
}

TEST(Live, WhoNeverReadsLosesFirst) {
  std::atomic<int64_t> total{0};
  Live live(total);
  live.set_max_bytes(100'000);
  const auto silent = live.subscribe(0), reader = live.subscribe(0);
  std::string seen;
  for (int i = 0; i < 200; ++i) {
    live.publish(2001, std::string(5'000, 'x'));
    seen += drain(*reader);
    EXPECT_LE(total, 100'000);
  }
  EXPECT_EQ(count(seen, "event: change\n"), 200);
  EXPECT_EQ(count(seen, "event: lost\n"), 0);
  const std::string rest = drain(*silent);
  const int kept = count(rest, "event: change\n");
  EXPECT_LT(kept, 20);
  EXPECT_THAT(rest,
              HasSubstr("event: lost\ndata: {\"events\":" + std::to_string(200 - kept) + "}"));
}

TEST(Live, AStreamEndsInsteadOfContinuingInsideAnEvent) {
  std::atomic<int64_t> total{0};
  Live live(total);
  live.set_max_bytes(100'000);
  const auto slow = live.subscribe(0);
  live.publish(2001, std::string(90'000, 'x'));
  EXPECT_FALSE(slow->take().empty());
  EXPECT_FALSE(slow->is_broken());
  live.publish(2001, std::string(90'000, 'y'));
  EXPECT_TRUE(slow->is_broken());
  const auto whole = live.subscribe(0);
  live.publish(2001, std::string(9'000, 'z'));
  EXPECT_FALSE(whole->is_broken());
}

TEST(Live, ALongQueueIsTakenInParts) {
  std::atomic<int64_t> total{0};
  Live live(total);
  const auto reader = live.subscribe(0);
  for (int i = 0; i < 300; ++i) live.publish(2001, std::string(5'000, 'x'));
  EXPECT_LE(reader->take().size(), 16'384U);
  const std::string rest = drain(*reader);
  EXPECT_GT(count(rest, "event: change\n"), 100);
  EXPECT_EQ(count(rest, "event: lost\n"), 1);
  EXPECT_EQ(total, 0);
}

}  // namespace
}  // namespace fathom
