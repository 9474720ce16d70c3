// SPDX-License-Identifier: Apache-2.0
// What both sources must tell of a program they really sample.
#include "probe/stacks/sample_source.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "probe/stacks/kept_samples.h"

namespace fathom {
namespace {

using fixtures::KeptChange;
using fixtures::KeptSample;
using fixtures::KeptSamples;
using fixtures::sample_program;
using fixtures::SampledRun;
using fixtures::workload;
using Kind = TaskChange::Kind;

struct Rung {
  const char* name;
  fixtures::OpenSource open;
};
void PrintTo(const Rung& rung, std::ostream* out) { *out << rung.name; }
constexpr Rung kRungs[] = {{"bpf", sample_by_bpf}, {"perf", sample_by_perf}};

class SampleSourceTest : public ::testing::TestWithParam<Rung> {
 protected:
  // Skips the test where this rung cannot start.
  void run(const std::vector<std::string>& command, const std::vector<int64_t>& rates_hz = {999}) {
    run_ = sample_program(GetParam().open, command, kept_, rates_hz);
    if (!run_.error.empty()) GTEST_SKIP() << GetParam().name << ": " << run_.error;
    EXPECT_EQ(run_.dropped, 0);
    EXPECT_EQ(kept_.out_of_order, 0);
    EXPECT_FALSE(kept_.samples.empty());
  }
  [[nodiscard]] std::vector<KeptChange> of(Kind kind) const {
    std::vector<KeptChange> found;
    std::copy_if(kept_.changes.begin(), kept_.changes.end(), std::back_inserter(found),
                 [kind](const KeptChange& change) { return change.kind == kind; });
    return found;
  }

  KeptSamples kept_;
  SampledRun run_;
};

INSTANTIATE_TEST_SUITE_P(Both, SampleSourceTest, ::testing::ValuesIn(kRungs),
                         [](const auto& rung) { return std::string(rung.param.name); });

TEST_P(SampleSourceTest, WeightsAreTheTimeThatWasCounted) {
  run({workload("burn"), "300"});
  if (IsSkipped()) return;
  int64_t sum = 0;
  for (const KeptSample& sample : kept_.samples) sum += sample.weight;
  if (run_.sees_kernel) {
    const auto counted = static_cast<double>(run_.counted);
    EXPECT_NEAR(static_cast<double>(sum), counted, 0.05 * counted);
  }
  EXPECT_GT(sum, 250'000'000);
}

TEST_P(SampleSourceTest, SeveralRatesAtOnceAreToldApart) {
  run({workload("burn"), "600"}, {99, 444, 999});
  if (IsSkipped()) return;
  std::array<int64_t, 3> samples{}, weight{};
  for (const KeptSample& sample : kept_.samples) {
    ASSERT_LT(sample.sampler, 3U);
    ++samples[sample.sampler];
    weight[sample.sampler] += sample.weight;
  }
  EXPECT_GT(samples[0], 20);
  EXPECT_GT(samples[1], 2 * samples[0]);
  EXPECT_GT(samples[2], samples[1]);
  // Each by itself stands for all of the time.
  for (const int64_t sum : weight) EXPECT_GT(sum, 450'000'000);
  if (run_.sees_kernel) {
    const auto counted = static_cast<double>(run_.counted);
    for (const int64_t sum : weight) EXPECT_NEAR(static_cast<double>(sum), counted, 0.07 * counted);
  }
}

TEST_P(SampleSourceTest, EveryUserSampleHasRegistersAndStack) {
  run({workload("burn"), "200"});
  if (IsSkipped()) return;
  size_t copied = 0;
  for (const KeptSample& sample : kept_.samples)
    copied += sample.user == RawSample::User::kCopied && sample.copied_bytes > 100;
  EXPECT_GT(copied * 10, kept_.samples.size() * 9);
}

TEST_P(SampleSourceTest, TimeInTheKernelHasItsFramesWhereItMayBeSeen) {
  run({"/bin/dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=3000", "status=none"});
  if (IsSkipped()) return;
  size_t in_kernel = 0;
  for (const KeptSample& sample : kept_.samples) in_kernel += sample.kernel_frames > 2 ? 1 : 0;
  if (run_.sees_kernel) {
    EXPECT_GT(in_kernel * 2, kept_.samples.size());
  } else {
    EXPECT_EQ(in_kernel, 0U);
  }
}

TEST_P(SampleSourceTest, CodeIsMappedBeforeItIsSampled) {
  run({"/bin/sh", "-c", workload("burn") + " 60; exec " + workload("burn") + " 60"});
  if (IsSkipped()) return;
  const auto maps = of(Kind::kMap);
  std::set<int64_t> burning;
  for (const KeptChange& exec : of(Kind::kExec)) {
    if (exec.name != "burn") continue;
    burning.insert(exec.pid);
    const auto own = std::find_if(maps.begin(), maps.end(), [&](const KeptChange& map) {
      return map.pid == exec.pid && map.map.path.ends_with("/burn") && map.time_ns >= exec.time_ns;
    });
    ASSERT_NE(own, maps.end());
    EXPECT_GT(own->map.length, 0U);
    EXPECT_NE(own->map.inode, 0U);
  }
  EXPECT_EQ(burning.size(), 2U);  // a child, and the shell itself
}

TEST_P(SampleSourceTest, ForksAndExitsOfAllTasksAreTold) {
  run({workload("task_tree"), "children-threads", "3", "5", "50"});
  if (IsSkipped()) return;
  std::set<int64_t> threads, children, ended;
  for (const KeptChange& fork : of(Kind::kFork))
    (fork.pid == fork.parent ? threads : children).insert(fork.tid);
  for (const KeptChange& exit : of(Kind::kExit)) ended.insert(exit.tid);
  EXPECT_EQ(threads.size(), 5U);
  EXPECT_EQ(children.size(), 3U);
  EXPECT_GE(ended.size(), 9U);
}

TEST_P(SampleSourceTest, ThreadsAreSampledAsThemselves) {
  run({workload("stacks_known"), "100"});
  if (IsSkipped()) return;
  std::map<int64_t, std::set<int64_t>> tids;
  for (const KeptSample& sample : kept_.samples)
    if (sample.tid >= 0) tids[sample.pid].insert(sample.tid);
  EXPECT_EQ(tids[run_.pid].size(), 6U) << ::testing::PrintToString(tids);
  EXPECT_EQ(tids.size(), 2U);  // with the child
}

// Without randomization the stacks of threads lie close below that of the first.
TEST_P(SampleSourceTest, CopiesAreNoLongerThanTheStack) {
  if (std::string(GetParam().name) != "bpf") GTEST_SKIP() << "perf copies a fixed size";
  run({"setarch", "-R", workload("stacks_known"), "60"});
  if (IsSkipped()) return;
  size_t of_threads = 0, not_in_ram = 0;
  for (const KeptSample& sample : kept_.samples) {
    EXPECT_LE(sample.copied_bytes, sample.tid == sample.pid ? 48U << 10 : 8U << 10);
    of_threads += sample.tid != sample.pid ? 1 : 0;
    not_in_ram += sample.tid != sample.pid && sample.user == RawSample::User::kNotInRam ? 1 : 0;
  }
  EXPECT_LE(not_in_ram * 10, of_threads) << "only while a thread's first page is being fetched";
}

TEST_P(SampleSourceTest, AThreadThatIsGoneIsRefused) {
  const Samplers samplers{{"cpu-clock", find_perf_event("cpu-clock").value(), 99}};
  const auto source = GetParam().open(SampledScope::of_thread(999'999'999), samplers);
  EXPECT_FALSE(source.ok());
}

}  // namespace
}  // namespace fathom
