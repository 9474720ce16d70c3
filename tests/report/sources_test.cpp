// SPDX-License-Identifier: Apache-2.0
// Profiles of several recordings and folded files together.
#include <gtest/gtest.h>

#include <map>

#include "report/made_samples.h"
#include "report/profile.h"

namespace fathom {
namespace {

std::map<std::string, int64_t> folded(const Profile& profile) {
  std::map<std::string, int64_t> lines;
  for (uint32_t i = 1; i < profile.tree.nodes.size(); ++i) {
    if (profile.tree.nodes[i].self.weight == 0) continue;
    std::string text;
    for (uint32_t at = i; at != 0; at = profile.tree.nodes[at].parent) {
      const std::string name(profile.function_of(profile.tree.nodes[at]).name);
      text = text.empty() ? name : name + ";" + text;
    }
    lines[text] += profile.tree.nodes[i].self.weight;
  }
  return lines;
}

struct TwoRuns {
  TwoRuns() {
    one.run().label = one.out().string("old");
    one.run().host = one.out().string("alpha");
    one.process(7, "cc1");
    one.thread(7, 8, "worker");
    one.add({.stack = {"main", "f"}, .weight = 10, .pid = 7, .tid = 7});
    one.add({.stack = {"main", "f"}, .weight = 5, .pid = 7, .tid = 8});
    two.run().label = two.out().string("new");
    two.run().host = two.out().string("beta");
    two.process(7, "ld");
    two.add({.stack = {"main", "f"}, .weight = 3, .pid = 7, .tid = 7});
    EXPECT_TRUE(write_file(folder / "more.folded", "cc1;main;f 2\ncc1;main 1\n").ok());
    sources = {ProfileSource::of(one.finish()), ProfileSource::of(two.finish())};
  }
  MadeSamples one, two;
  TempFolder folder;
  std::vector<ProfileSource> sources;
};

TEST(Sources, AddUpAndEachPidIsItsOwnRunsProcess) {
  const TwoRuns runs;
  const Profile profile = load_profile(runs.sources, {}).value();
  EXPECT_EQ(profile.total.weight, 18);
  EXPECT_EQ(folded(profile),
            (std::map<std::string, int64_t>{{"cc1;main;f", 15}, {"ld;main;f", 3}}));
  EXPECT_EQ(profile.command, "2 runs: old, new");
}

TEST(Sources, AreGroupedAsAsked) {
  const TwoRuns runs;
  using Lines = std::map<std::string, int64_t>;
  const auto by = [&](GroupBy what) {
    return folded(load_profile(runs.sources, {.group_by = what}).value());
  };
  EXPECT_EQ(by(GroupBy::kConfig), (Lines{{"old;cc1;main;f", 15}, {"new;ld;main;f", 3}}));
  EXPECT_EQ(by(GroupBy::kHost), (Lines{{"alpha;cc1;main;f", 15}, {"beta;ld;main;f", 3}}));
  EXPECT_EQ(by(GroupBy::kThread),
            (Lines{{"cc1;cc1;main;f", 10}, {"cc1;worker;main;f", 5}, {"ld;ld;main;f", 3}}));
  EXPECT_EQ(by(GroupBy::kRank), (Lines{{"[no rank];cc1;main;f", 15}, {"[no rank];ld;main;f", 3}}));
}

TEST(Sources, ALabelOfTheUsersGoesBeforeTheRunsOwn) {
  TwoRuns runs;
  runs.sources[1].label = "mine";
  const Profile profile = load_profile(runs.sources, {.group_by = GroupBy::kConfig}).value();
  EXPECT_EQ(folded(profile).count("mine;ld;main;f"), 1U);
}

TEST(Sources, FoldedFilesAndRecordingsGoTogether) {
  const TwoRuns runs;
  const std::vector<ProfileSource> folded_only = {{.path = runs.folder / "more.folded"},
                                                  {.path = runs.folder / "more.folded"}};
  const Profile profile = load_profile(folded_only, {}).value();
  EXPECT_EQ(folded(profile), (std::map<std::string, int64_t>{{"cc1;main;f", 4}, {"cc1;main", 2}}));
  EXPECT_EQ(profile.total.samples, 6);
  EXPECT_EQ(profile.unit, WeightUnit::kSamples);
  EXPECT_EQ(load_profile(folded_only, {.from_ns = 1}).error().code, Code::kInvalid);
}

TEST(Sources, AThreadOfOneRunIsNotThatOfAnother) {
  const TwoRuns runs;
  const Profile profile = load_profile(runs.sources, {.process = "ld"}).value();
  EXPECT_EQ(folded(profile), (std::map<std::string, int64_t>{{"ld;main;f", 3}}));
  EXPECT_EQ(load_profile(runs.sources, {.process = "as"}).error().code, Code::kNotFound);
}

TEST(Sources, PartsSayWhoseSamplesTheyAre) {
  const TwoRuns runs;
  ProfileFilter filter;
  filter.keep_parts = filter.keep_times = true;
  const Profile profile = load_profile(runs.sources, filter).value();
  ASSERT_EQ(profile.groups.size(), 3U);
  ASSERT_EQ(profile.parts.size(), 3U);
  int64_t sum = 0;
  for (const NodeSamples& part : profile.parts) sum += part.self.weight;
  EXPECT_EQ(sum, profile.total.weight);
  EXPECT_EQ(profile.groups[1].thread, "worker");
  EXPECT_EQ(profile.groups[2].process, "ld");
  EXPECT_EQ(profile.groups[2].source, 1U);
}

TEST(Sources, OneRateOfSeveralStandsForAllTheTime) {
  MadeSamples made;
  // A second at 100 and 300 Hz: each sample stands for 2.5 ms.
  for (int i = 0; i < 100; ++i) made.add({.stack = {"f"}, .weight = 2'500'000, .rate_hz = 100});
  for (int i = 0; i < 300; ++i) made.add({.stack = {"f"}, .weight = 2'500'000, .rate_hz = 300});
  const Recording recording = made.finish();
  EXPECT_EQ(load_profile(recording, {}).value().total.weight, 1'000'000'000);
  const Profile one = load_profile(recording, {.rate_hz = 100}).value();
  EXPECT_EQ(one.total.weight, 1'000'000'000);
  EXPECT_EQ(one.total.samples, 100);
  EXPECT_EQ(load_profile(recording, {.rate_hz = 200}).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace fathom
