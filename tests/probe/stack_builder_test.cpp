// SPDX-License-Identifier: Apache-2.0
// From samples of real programs to named stacks, also when the program has gone on meanwhile.
#include "probe/stack_builder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/clock.h"
#include "probe/stacks/kept_samples.h"

namespace fathom {
namespace {

using fixtures::sample_program;
using fixtures::SampledRun;
using fixtures::workload;

struct Named {
  int64_t pid = 0;
  StackEnd end{};
  std::vector<std::string> symbols, modules;  // outermost first

  [[nodiscard]] bool has(const std::string& symbol) const {
    return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
  }
};

class Builder final : public SampleListener {
 public:
  void on_sample(const RawSample& sample) override {
    const BuiltStack built = builder.build(sample);
    Named named;
    named.pid = sample.pid;
    named.end = built.end;
    const Dictionary& dictionary = names.dictionary();
    for (StackId at = built.stack; at != StackId::kNone;) {
      const StackNode& node = dictionary.stacks[index_of(at)];
      const Frame& frame = dictionary.frames[index_of(node.frame)];
      named.symbols.insert(named.symbols.begin(), std::string(names.text(frame.symbol)));
      named.modules.insert(named.modules.begin(), std::string(names.text(frame.module)));
      at = node.parent;
    }
    all.push_back(std::move(named));
  }
  void on_change(const TaskChange& change) override { builder.change(change); }

  [[nodiscard]] size_t complete() const {
    return static_cast<size_t>(std::count_if(
        all.begin(), all.end(), [](const Named& one) { return one.end == StackEnd::kComplete; }));
  }
  [[nodiscard]] std::vector<Named> with(const std::string& symbol) const {
    std::vector<Named> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [&](const Named& one) { return one.has(symbol); });
    return found;
  }

  Interner names;
  StackBuilder builder{names, ""};
  std::vector<Named> all;
};

SampledRun run(const std::vector<std::string>& command, Builder& builder, bool only_at_end) {
  SampledRun by_bpf = sample_program(sample_by_bpf, command, builder, {999}, only_at_end);
  if (by_bpf.error.empty()) return by_bpf;
  return sample_program(sample_by_perf, command, builder, {999}, only_at_end);
}

#define RUN_OR_SKIP(command, builder, only_at_end)            \
  const SampledRun done = run(command, builder, only_at_end); \
  if (!done.error.empty()) GTEST_SKIP() << done.error;        \
  ASSERT_FALSE((builder).all.empty())

TEST(StackBuilder, AProgramThatEndedBeforeItIsUnwoundLosesNothing) {
  Builder builder;
  RUN_OR_SKIP((std::vector<std::string>{workload("stacks_known"), "60"}), builder, true);
  EXPECT_EQ(done.status, 0);
  EXPECT_GE(builder.complete() * 100, builder.all.size() * 97);
  for (const char* symbol : {"share_a(long)", "child_work(long)", "thread_work(long)"})
    EXPECT_FALSE(builder.with(symbol).empty()) << symbol;
  for (const Named& stack : builder.with("known_library_work")) {
    const auto at = std::find(stack.symbols.begin(), stack.symbols.end(), "known_library_work");
    EXPECT_TRUE(stack.modules[static_cast<size_t>(at - stack.symbols.begin())].ends_with(
        "/libstacks_known_library.so"));
  }
}

TEST(StackBuilder, AfterAnExecAddressesAreThoseOfTheNewProgram) {
  Builder builder;
  const std::string burn = workload("burn");
  const std::string known = workload("stacks_known");
  RUN_OR_SKIP(
      (std::vector<std::string>{"/bin/sh", "-c", burn + " 50 >/dev/null; exec " + known + " 30"}),
      builder, true);
  std::set<int64_t> pids;
  for (const Named& stack : builder.with("share_all(long)")) {
    pids.insert(stack.pid);
    EXPECT_EQ(stack.modules[0], known);
    for (const std::string& module : stack.modules) {
      EXPECT_FALSE(module.ends_with("sh")) << module;
      EXPECT_NE(module, burn);
    }
  }
  EXPECT_EQ(pids, std::set<int64_t>{done.pid});
  EXPECT_GE(builder.complete() * 100, builder.all.size() * 95);
}

TEST(StackBuilder, AProcessGoesOnWhenItsFirstThreadEnds) {
  Builder builder;
  RUN_OR_SKIP((std::vector<std::string>{workload("first_thread_ends")}), builder, false);
  const auto before = builder.with("before_the_library");
  const auto after = builder.with("after_the_library");
  EXPECT_GT(before.size(), 20U);
  EXPECT_GT(after.size(), 20U);  // mapping it must not make the rest forgotten
  EXPECT_GE(builder.complete() * 100, builder.all.size() * 95);
}

TEST(StackBuilder, AProcessNobodyKnowsGivesAnUnknownFrameAndSaysSo) {
  Builder builder;
  RawSample sample;
  sample.pid = sample.tid = 999'999'999;
  sample.user = RawSample::User::kCopied;
  sample.registers.set(unwind_arch::kPc, 0x401000);
  sample.registers.set(unwind_arch::kStackPointer, 0x7ffc00001000);
  const std::vector<uint8_t> copy(256, 0);
  sample.copy = {0x7ffc00001000, copy};
  builder.on_sample(sample);
  ASSERT_EQ(builder.all.size(), 1U);
  EXPECT_EQ(builder.all[0].symbols, std::vector<std::string>{"[unknown]"});
  EXPECT_NE(builder.all[0].end, StackEnd::kComplete);
}

TEST(StackBuilder, SamplesInTheKernelAloneAreComplete) {
  Builder builder;
  RawSample sample;
  const std::vector<uint64_t> kernel = {0xffffffff81000010, 0xffffffff81000020};
  sample.pid = sample.tid = 2;
  sample.kernel = kernel;
  builder.on_sample(sample);
  EXPECT_EQ(builder.all[0].end, StackEnd::kComplete);
  EXPECT_EQ(builder.all[0].symbols.size(), 2U);
  EXPECT_EQ(builder.builder.ended(StackEnd::kComplete), 1);
}

TEST(StackBuilder, A32BitProgramIsToldApart) {
  Builder builder;
  RawSample sample;
  sample.pid = sample.tid = getpid();
  sample.user = RawSample::User::k32Bit;
  builder.on_sample(sample);
  EXPECT_EQ(builder.all[0].end, StackEnd::k32Bit);
}

// Between an exec and its first instruction the registers are those of the program before.
TEST(StackBuilder, BetweenTwoProgramsThereIsNoUserPart) {
  Builder builder;
  TaskChange exec;
  exec.kind = TaskChange::Kind::kExec;
  exec.pid = exec.tid = 999'999'999;
  exec.time_ns = 10;
  builder.on_change(exec);
  RawSample sample;
  const std::vector<uint64_t> kernel = {0xffffffff81000010};
  sample.pid = sample.tid = exec.pid;
  sample.time_ns = 20;
  sample.user = RawSample::User::kCopied;
  sample.registers.set(unwind_arch::kPc, 0x401000);
  sample.registers.set(unwind_arch::kStackPointer, 0x7ffc00001000);
  sample.kernel = kernel;
  builder.on_sample(sample);
  EXPECT_EQ(builder.all[0].end, StackEnd::kComplete);
  EXPECT_EQ(builder.all[0].symbols.size(), 1U);
  sample.kernel = {};  // in user mode it is another matter
  builder.on_sample(sample);
  EXPECT_NE(builder.all[1].end, StackEnd::kComplete);
}

TEST(StackBuilder, NamesAreRenewedWithTheInterner) {
  Builder builder;
  RawSample sample;
  const std::vector<uint64_t> kernel = {0xffffffff81000010};
  sample.kernel = kernel;
  builder.on_sample(sample);
  builder.names = Interner();
  builder.builder.forget_ids();
  builder.on_sample(sample);
  EXPECT_EQ(builder.all[1].symbols, builder.all[0].symbols);
}

}  // namespace
}  // namespace fathom
