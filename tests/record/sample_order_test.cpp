// SPDX-License-Identifier: Apache-2.0
#include "record/sample_order.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

Sample sample(int64_t time_ns, uint32_t thread, uint32_t state) {
  Sample sample;
  sample.time_ns = time_ns;
  sample.thread = static_cast<ThreadId>(thread);
  sample.state = static_cast<StringId>(state);
  sample.event = static_cast<StringId>(state);
  return sample;
}

TEST(SampleOrder, GroupsAndKeepsTheOrderWithin) {
  constexpr uint32_t kThreads = 3;
  constexpr uint32_t kStates = 2;
  constexpr int64_t kEach = 20;
  std::vector<Sample> samples;
  for (int64_t time = 0; time < kThreads * kStates * kEach; ++time) {
    const auto number = static_cast<uint32_t>(time);
    samples.push_back(sample(time, 3 - number % kThreads, 2 - number / kThreads % kStates));
  }
  SampleOrder order;
  order.apply(samples);
  ASSERT_EQ(samples.size(), size_t{kThreads * kStates * kEach});
  std::vector<bool> seen(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    const size_t group = i / kEach;
    EXPECT_EQ(samples[i].state, static_cast<StringId>(1 + group / kThreads)) << i;
    EXPECT_EQ(samples[i].thread, static_cast<ThreadId>(1 + group % kThreads)) << i;
    if (i % kEach > 0) {
      EXPECT_GT(samples[i].time_ns, samples[i - 1].time_ns) << i;
    }
    const auto time = static_cast<size_t>(samples[i].time_ns);
    ASSERT_LT(time, seen.size());
    EXPECT_FALSE(seen[time]) << time;
    seen[time] = true;
  }
}

TEST(SampleOrder, LeavesWhatHasTooManyKinds) {
  std::vector<Sample> samples;
  for (int64_t time = 0; time < 100; ++time)
    samples.push_back(sample(time, static_cast<uint32_t>(100 - time), 1));
  SampleOrder order;
  order.apply(samples);
  for (size_t i = 0; i < samples.size(); ++i)
    EXPECT_EQ(samples[i].time_ns, static_cast<int64_t>(i));
}

TEST(SampleOrder, IsUsedAgainAndTakesNothing) {
  SampleOrder order;
  std::vector<Sample> samples;
  order.apply(samples);
  EXPECT_TRUE(samples.empty());
  for (int round = 0; round < 2; ++round) {
    samples.clear();
    for (int64_t time = 0; time < 40; ++time)
      samples.push_back(sample(time, static_cast<uint32_t>(time % 2 + 1), 1));
    order.apply(samples);
    EXPECT_EQ(samples.front().thread, static_cast<ThreadId>(1));
    EXPECT_EQ(samples[20].time_ns, 1);
    EXPECT_EQ(samples.back().time_ns, 39);
  }
}

}  // namespace
}  // namespace fathom
