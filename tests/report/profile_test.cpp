// SPDX-License-Identifier: Apache-2.0
#include "report/profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "report/made_samples.h"

namespace fathom {
namespace {

const Function& named(const Profile& profile, std::string_view name) {
  for (const Function& function : profile.functions) {
    if (function.name == name && function.total.samples > 0) return function;
  }
  static const Function kNone;
  ADD_FAILURE() << "no function " << name;
  return kNone;
}

TEST(Profile, SelfAndTotalAreWeights) {
  MadeSamples made;
  made.add({.stack = {"main", "a"}, .weight = 5});
  made.add({.stack = {"main", "a", "b"}, .weight = 3});
  made.add({.stack = {"main"}, .weight = 2});
  const Profile profile = load_profile(made.finish(), {}).value();
  EXPECT_EQ(profile.total.weight, 10);
  EXPECT_EQ(profile.total.samples, 3);
  EXPECT_EQ(named(profile, "main").self.weight, 2);
  EXPECT_EQ(named(profile, "main").total.weight, 10);
  EXPECT_EQ(named(profile, "a").self.weight, 5);
  EXPECT_EQ(named(profile, "a").total.weight, 8);
  EXPECT_EQ(named(profile, "a").total.samples, 2);
  EXPECT_EQ(profile.functions[functions_by_self(profile)[0]].name, "a");
}

TEST(Profile, ARecursiveFunctionCountsOnceASample) {
  MadeSamples made;
  made.add({.stack = {"main", "f", "g", "f", "f"}, .weight = 7});
  made.add({.stack = {"main", "f", "f", "g"}, .weight = 4});
  const Profile profile = load_profile(made.finish(), {}).value();
  EXPECT_EQ(named(profile, "f").total.weight, 11);
  EXPECT_EQ(named(profile, "f").self.weight, 7);
  EXPECT_EQ(named(profile, "g").total.weight, 11);
}

TEST(Profile, TheTreeAddsUpEverywhere) {
  MadeSamples made;
  std::mt19937 random(3);
  int64_t weight = 0;
  for (int i = 0; i < 2000; ++i) {
    MadeSample sample{.weight = 1 + static_cast<int64_t>(random() % 9)};
    for (size_t depth = random() % 12; depth > 0; --depth)
      sample.stack.push_back("f" + std::to_string(random() % 4));
    weight += sample.weight;
    made.add(sample);
  }
  const Profile profile = load_profile(made.finish(), {}).value();
  EXPECT_EQ(profile.total.weight, weight);
  EXPECT_EQ(profile.tree.nodes[0].total.weight, weight);
  EXPECT_EQ(profile.tree.nodes[0].total.samples, 2000);
  int64_t self = 0;
  for (uint32_t i = 0; i < profile.tree.nodes.size(); ++i) {
    const CallNode& node = profile.tree.nodes[i];
    int64_t sum = node.self.weight;
    for (const uint32_t child : profile.tree.children_of(i)) {
      EXPECT_EQ(profile.tree.nodes[child].parent, i);
      EXPECT_EQ(profile.tree.nodes[child].depth, node.depth + 1);
      sum += profile.tree.nodes[child].total.weight;
    }
    ASSERT_EQ(sum, node.total.weight);
  }
  for (const Function& function : profile.functions) {
    self += function.self.weight;
    EXPECT_LE(function.total.weight, weight);
  }
  EXPECT_EQ(self, weight);
}

TEST(Profile, TheSameNameInTwoModulesStaysApartAndLinesDoNot) {
  MadeSamples made;
  made.add({.stack = {"f@/lib/a.so"}});
  made.add({.stack = {"f@/lib/b.so"}});
  made.add({.stack = {"f@/lib/b.so"}});  // another line
  const Profile profile = load_profile(made.finish(), {}).value();
  EXPECT_EQ(profile.tree.children_of(0).size(), 2U);
}

TEST(Profile, AProcessIsTheOneThatHadThePidThen) {
  MadeSamples made;
  made.process(7, "first", 0);
  made.process(7, "second", 1000);
  made.process(8, "second", 0);
  made.add({.stack = {"f"}, .weight = 1, .pid = 7, .tid = 7, .time_ns = 500});
  made.add({.stack = {"f"}, .weight = 2, .pid = 7, .tid = 7, .time_ns = 1500});
  made.add({.stack = {"f"}, .weight = 4, .pid = 8, .tid = 9, .time_ns = 1500});
  made.add({.stack = {"f"}, .weight = 8, .pid = 99, .tid = 99, .time_ns = 1500});
  const Profile profile = load_profile(made.finish(), {}).value();
  EXPECT_EQ(named(profile, "first").total.weight, 1);
  EXPECT_EQ(named(profile, "second").total.weight, 6);
  EXPECT_TRUE(named(profile, "second").is_process);
  EXPECT_EQ(named(profile, "pid 99").total.weight, 8);
  EXPECT_EQ(named(profile, "f").total.weight, 15);
}

TEST(Profile, FiltersByEventProcessThreadAndTime) {
  MadeSamples made;
  made.process(1, "cc1");
  made.process(2, "ld");
  made.thread(1, 11, "worker");
  made.add({.stack = {"f"}, .weight = 1, .pid = 1, .tid = 1, .time_ns = 10});
  made.add({.stack = {"f"}, .weight = 2, .pid = 1, .tid = 11, .time_ns = 20});
  made.add({.stack = {"f"}, .weight = 4, .pid = 2, .tid = 2, .time_ns = 30});
  made.add({.stack = {"f"}, .weight = 100, .pid = 2, .tid = 2, .event = "page-faults"});
  const Recording recording = made.finish();
  const auto weight = [&](const ProfileFilter& filter) {
    const auto profile = load_profile(recording, filter);
    return profile.ok() ? profile.value().total.weight : -1;
  };
  EXPECT_EQ(weight({}), 7);
  EXPECT_EQ(weight({.event = "page-faults"}), 100);
  EXPECT_EQ(weight({.process = "cc1"}), 3);
  EXPECT_EQ(weight({.process = "2"}), 4);
  EXPECT_EQ(weight({.thread = "worker"}), 2);
  EXPECT_EQ(weight({.from_ns = 10, .to_ns = 30}), 3);
  EXPECT_EQ(load_profile(recording, {}).value().other_events,
            std::vector<std::string>{"page-faults"});
  EXPECT_EQ(load_profile(recording, {.process = "cc11"}).error().hint, "did you mean cc1?");
  EXPECT_EQ(load_profile(recording, {.event = "cpu-clok"}).error().hint, "did you mean cpu-clock?");
  EXPECT_EQ(load_profile(recording, {.from_ns = 5000}).error().code, Code::kNotFound);
}

TEST(Profile, WithoutSamplesItSaysHowToGetSome) {
  MadeSamples made;
  const auto profile = load_profile(made.finish(), {});
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.error().code, Code::kNotFound);
  EXPECT_NE(profile.error().hint.find("--probe stacks"), std::string::npos);
}

TEST(Profile, WhatHasNoSymbolIsNamedByItsModule) {
  MadeSamples made;
  made.add({.stack = {"@/usr/lib/libfoo.so"}});
  made.add({.stack = {"@[vdso]"}});
  made.add({.stack = {"@"}});
  made.add({.stack = {}});
  const Profile profile = load_profile(made.finish(), {}).value();
  for (const char* name : {"[libfoo.so]", "[vdso]", "[unknown]", "[no stack]"})
    EXPECT_EQ(named(profile, name).self.samples, 1);
}

TEST(UnwindQuality, CountsHowStacksEnded) {
  MadeSamples made;
  made.stacks_probe(3);
  for (int i = 0; i < 997; ++i) made.add({.stack = {"f"}});
  made.add({.stack = {"f"}, .unwind = "joined"});
  made.add({.stack = {"f"}, .unwind = "cut"});
  made.add({.stack = {"f"}, .unwind = "cut"});
  const Profile profile = load_profile(made.finish(), {}).value();
  ASSERT_TRUE(profile.quality.has_value());
  EXPECT_EQ(profile.quality->complete, 997);
  EXPECT_EQ(quality_text(*profile.quality), "99.7 % complete, 0.2 % cut, 0.1 % joined, 3 lost");
}

TEST(UnwindQuality, NobodyClaimsAnythingOfAnImport) {
  MadeSamples made;
  made.add({.stack = {"f"}});
  EXPECT_FALSE(load_profile(made.finish(), {}).value().quality.has_value());
}

TEST(UnwindQuality, AlmostAllIsNotAll) {
  EXPECT_EQ(percent_text(99'999, 100'000), "99.9 %");
  EXPECT_EQ(percent_text(100'000, 100'000), "100 %");
  EXPECT_EQ(percent_text(1, 100'000), "<0.1 %");
  EXPECT_EQ(percent_text(0, 100'000), "0.0 %");
}

}  // namespace
}  // namespace fathom
