// SPDX-License-Identifier: Apache-2.0
#include "probe/stacks/sample_thinner.h"

#include <gtest/gtest.h>

#include <map>

namespace fathom {
namespace {

class Kept final : public SampleListener {
 public:
  void on_sample(const RawSample& sample) override { samples.push_back(sample); }
  void on_change(const TaskChange& change) override { changes += change.pid; }

  std::vector<RawSample> samples;
  int64_t changes = 0;
};

RawSample sample_of(uint32_t sampler, int64_t cpu, int64_t tid) {
  RawSample sample;
  sample.sampler = sampler;
  sample.cpu = cpu;
  sample.tid = tid;
  sample.weight = 1'010;
  return sample;
}

TEST(SampleThinner, OneOfEachBlockHasTheWeightOfAll) {
  SampleThinner thinner({10, 3});
  Kept kept;
  thinner.aim_at(kept);
  for (int i = 0; i < 1'000; ++i) thinner.on_sample(sample_of(2, i % 2, i));
  ASSERT_EQ(kept.samples.size(), 100U);
  for (const RawSample& sample : kept.samples) {
    EXPECT_EQ(sample.sampler, 0U);
    EXPECT_EQ(sample.weight, 10'100);
  }
}

// Tasks of 4 samples each, in blocks of 10: each of the 4 is as likely as others. Of 10,000 kept
// samples, 2,500 are expected of each; 300 more or less are 6.9 standard deviations (1e-11).
TEST(SampleThinner, EachSampleOfShortTasksIsAsLikely) {
  SampleThinner thinner({10});
  Kept kept;
  thinner.aim_at(kept);
  for (int i = 0; i < 100'000; ++i) thinner.on_sample(sample_of(1, 0, i % 4));
  std::map<int64_t, int> counts;
  for (const RawSample& sample : kept.samples) ++counts[sample.tid];
  ASSERT_EQ(counts.size(), 4U);
  for (const auto& [place, count] : counts) EXPECT_NEAR(count, 2'500, 300) << place;
}

TEST(SampleThinner, OtherSamplesAndChangesPass) {
  SampleThinner thinner({10});
  Kept kept;
  thinner.aim_at(kept);
  for (int i = 0; i < 7; ++i) thinner.on_sample(sample_of(0, 0, i));
  EXPECT_EQ(kept.samples.size(), 7U);
  EXPECT_EQ(kept.samples.front().weight, 1'010);
  TaskChange change;
  change.kind = TaskChange::Kind::kFork;
  change.pid = 5;
  thinner.on_change(change);
  change.kind = TaskChange::Kind::kExit;
  thinner.on_change(change);
  EXPECT_EQ(kept.changes, 10);
  EXPECT_EQ(thinner.started(), 1);
}

}  // namespace
}  // namespace fathom
