// SPDX-License-Identifier: Apache-2.0
#include "probe/io/hook_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "probe/io/kernel_functions.h"
#include "probe/io/user_functions.h"

namespace fathom {
namespace {

NamePattern pattern(const std::string& text) { return NamePattern::compile(text).value(); }

// Says yes to some rungs.
class Allowing final : public HookAttacher {
 public:
  explicit Allowing(std::set<HookRung> rungs) : rungs_(std::move(rungs)) {}
  Status attach(const std::vector<HookSide>& sides) override {
    tried.push_back(sides.front().rung);
    if (rungs_.contains(sides.front().rung)) return {};
    return Error{Code::kUnsupported, side_name(sides.front()) + std::string(" refused")};
  }
  std::vector<HookRung> tried;

 private:
  std::set<HookRung> rungs_;
};

class HookPlan : public testing::Test {
 protected:
  void SetUp() override {
    auto loaded = KernelTypes::load();
    if (!loaded.ok()) GTEST_SKIP() << loaded.error().message;
    types_ = std::move(loaded).value();
  }
  std::vector<HookWish> wishes(const std::vector<Capture>& captures,
                               std::set<std::string> taken = {}) {
    auto made = wish_hooks({}, captures, *types_, std::move(taken));
    EXPECT_TRUE(made.ok());
    return std::move(made).value();
  }
  std::unique_ptr<KernelTypes> types_;
};

TEST_F(HookPlan, TypesSayWhereAFileStands) {
  const KernelPlace* read = types_->function("vfs_read");
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->file, kHookOfFile);
  EXPECT_EQ(read->file_argument, 0);
  EXPECT_EQ(read->arguments, 4);
  EXPECT_EQ(read->result, kResultBytes);
  const KernelPlace* open = types_->function("vfs_open");
  ASSERT_NE(open, nullptr);
  EXPECT_EQ(open->file, kHookOfPath);
  EXPECT_EQ(open->result, kResultErrno);
  const KernelPlace* exec = types_->tracepoint("sched_process_exec");
  ASSERT_NE(exec, nullptr);
  EXPECT_EQ(exec->arguments, 3);
  EXPECT_EQ(types_->function("no_such_function_at_all"), nullptr);
}

TEST_F(HookPlan, AFunctionThatFitsTwoLayersIsCountedInTheFirst) {
  const auto made = wishes({{"first", Capture::Kind::kFunctions, pattern("^vfs_(read|open)$")},
                            {"second", Capture::Kind::kFunctions, pattern("^vfs_read$")},
                            {"third", Capture::Kind::kFunctions, pattern("^vfs_write$")}});
  ASSERT_EQ(made.size(), 3U);
  EXPECT_EQ(made[1].name, "vfs_read");
  EXPECT_EQ(made[1].layer, "first");
  EXPECT_EQ(made[1].also, std::vector<std::string>{"second"});
  EXPECT_EQ(made[2].layer, "third");
}

TEST_F(HookPlan, WhatAnotherProgramSeesIsNotCountedAgain) {
  EXPECT_TRUE(wishes({{"x", Capture::Kind::kTracepoints, pattern("^sched_process_exec$")}},
                     {"sched_process_exec"})
                  .empty());
}

TEST_F(HookPlan, TheLadderGoesDownUntilOneIsAttached) {
  const HookWish wish = wishes({{"vfs", Capture::Kind::kFunctions, pattern("^vfs_read$")}})[0];
  Allowing all({HookRung::kFentry, HookRung::kKprobe});
  EXPECT_EQ(attach_best(wish, *types_, all).sides.front().rung, HookRung::kFentry);
  Allowing kprobes({HookRung::kKprobe});
  const HookOutcome by_kprobe = attach_best(wish, *types_, kprobes);
  EXPECT_EQ(by_kprobe.sides.front().rung, HookRung::kKprobe);
  EXPECT_EQ(kprobes.tried, (std::vector<HookRung>{HookRung::kFentry, HookRung::kKprobe}));
  EXPECT_TRUE(by_kprobe.has_bytes);
  EXPECT_TRUE(by_kprobe.has_time);
  Allowing none({});
  const HookOutcome nothing = attach_best(wish, *types_, none);
  EXPECT_TRUE(nothing.sides.empty());
  EXPECT_EQ(nothing.why, "fentry refused");
}

TEST_F(HookPlan, ATracepointStandsInForItsFunction) {
  if (types_->tracepoint("ext4_sync_file_enter") == nullptr) GTEST_SKIP() << "no ext4 here";
  const HookWish wish =
      wishes({{"ext4", Capture::Kind::kFunctions, pattern("^ext4_sync_file$")}})[0];
  Allowing tracepoints({HookRung::kTracepoint, HookRung::kKprobe});
  const HookOutcome outcome = attach_best(wish, *types_, tracepoints);
  ASSERT_EQ(outcome.sides.size(), 2U);
  EXPECT_EQ(outcome.sides[0].where, "ext4_sync_file_enter");
  EXPECT_EQ(outcome.sides[1].kind, kHookLeave);
  EXPECT_TRUE(outcome.has_time);
}

TEST_F(HookPlan, APatternThatFitsTooMuchIsRefused) {
  const auto made = wish_hooks({}, {{"all", Capture::Kind::kFunctions, pattern(".")}}, *types_, {});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("fits too much"), std::string::npos);
}

TEST(LayerHooks, EveryFunctionIsOfOneKnownLayer) {
  std::set<std::string> names;
  for (const LayerHook& hook : layer_hooks()) {
    EXPECT_TRUE(layers_from(hook.layer).ok()) << hook.layer;
    EXPECT_TRUE(names.insert(hook.function).second) << hook.function;
  }
}

TEST(UserFunctions, AreFoundByPattern) {
  const auto found = user_functions("/proc/self/exe", pattern("^main$"));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found.value()[0].name, "main");
  EXPECT_GT(found.value()[0].offset, 0U);
  EXPECT_EQ(user_functions("/proc/self/exe", pattern("^no such$")).error().code, Code::kNotFound);
  EXPECT_FALSE(user_functions("/proc/self/exe", pattern(".")).ok());
  EXPECT_FALSE(user_functions("/etc/passwd", pattern(".")).ok());
}

}  // namespace
}  // namespace fathom
