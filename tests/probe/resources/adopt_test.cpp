// SPDX-License-Identifier: Apache-2.0
// What each source tells of a process that ran before it was adopted.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/clock.h"
#include "base/proc.h"
#include "probe/resources/running.h"
#include "probe/resources/task_source.h"
#include "support/on_signal.h"

namespace fathom {
namespace {

using Kind = TaskEvent::Kind;

struct Heard {
  Kind kind;
  int64_t pid, tid, ppid;
  bool ends_process;
  TaskUsage usage;
};

class Listener final : public TaskListener {
 public:
  void on_task(const TaskEvent& event) override {
    heard.push_back({event.kind, event.pid, event.tid, event.ppid, event.ends_process,
                     event.usage != nullptr ? *event.usage : TaskUsage{}});
  }
  [[nodiscard]] std::vector<Heard> of(Kind kind, int64_t pid) const {
    std::vector<Heard> found;
    std::copy_if(heard.begin(), heard.end(), std::back_inserter(found),
                 [&](const Heard& one) { return one.kind == kind && one.pid == pid; });
    return found;
  }
  std::vector<Heard> heard;
};

struct Rung {
  const char* name;
  Result<std::unique_ptr<TaskSource>> (*watch)(int64_t root);
};
void PrintTo(const Rung& rung, std::ostream* out) { *out << rung.name; }
constexpr Rung kRungs[] = {
    {"bpf", watch_tasks_by_bpf}, {"perf", watch_tasks_by_perf}, {"proc", watch_tasks_by_proc}};

class AdoptTest : public ::testing::TestWithParam<Rung> {
 protected:
  void SetUp() override {
    auto source = GetParam().watch(kNobody);
    if (!source.ok()) GTEST_SKIP() << GetParam().name << ": " << source.error().message;
    source_ = std::move(source).value();
    if (const Status adopted = source_->adopt(workload_.pid()); !adopted.ok())
      GTEST_SKIP() << GetParam().name << ": " << adopted.error().message;
  }
  [[nodiscard]] bool is(const char* name) const { return std::string(name) == GetParam().name; }

  OnSignal workload_;
  std::unique_ptr<TaskSource> source_;
  Listener listener_;
};

INSTANTIATE_TEST_SUITE_P(Ladder, AdoptTest, ::testing::ValuesIn(kRungs),
                         [](const auto& rung) { return std::string(rung.param.name); });

TEST_P(AdoptTest, TellsNothingOfWhatWasThereBefore) {
  source_->drain(listener_);
  source_->drain(listener_);
  EXPECT_TRUE(listener_.of(Kind::kFork, workload_.pid()).empty());
  EXPECT_TRUE(listener_.of(Kind::kExit, workload_.pid()).empty());
}

TEST_P(AdoptTest, TellsOfBothThreadsAsTheyEnd) {
  const auto threads = list_ids(proc_folder(workload_.pid()) + "/task");
  source_->drain(listener_);
  workload_.end();
  workload_.reap();
  const int64_t pid = threads.value()[0];
  OnSignal::wait_for([&] {
    source_->drain(listener_);
    return listener_.of(Kind::kExit, pid).size() >= threads.value().size();
  });
  const std::vector<Heard> exits = listener_.of(Kind::kExit, pid);
  EXPECT_EQ(exits.size(), 2U);
  // Both say so where both had left the group before the first was told.
  EXPECT_TRUE(
      std::any_of(exits.begin(), exits.end(), [](const Heard& exit) { return exit.ends_process; }));
  int64_t cpu_ns = 0;
  for (const Heard& exit : exits) cpu_ns += exit.usage.cpu_ns.value_or(0);
  EXPECT_GE(cpu_ns, 290 * kNsPerMs) << "since its start, not since it was adopted";
  EXPECT_EQ(source_->dropped(), 0);
}

TEST_P(AdoptTest, FollowsChildrenToCome) {
  workload_.start_child();
  source_->drain(listener_);
  source_->drain(listener_);
  const auto child = std::find_if(
      listener_.heard.begin(), listener_.heard.end(),
      [&](const Heard& one) { return one.kind == Kind::kFork && one.ppid == workload_.pid(); });
  if (is("proc") && child == listener_.heard.end()) GTEST_SKIP() << "it lived between two looks";
  ASSERT_NE(child, listener_.heard.end());
  EXPECT_EQ(listener_.of(Kind::kExit, child->pid).size(), 1U);
}

TEST_P(AdoptTest, AdoptingTwiceChangesNothing) {
  ASSERT_TRUE(source_->adopt(workload_.pid()).ok());
  workload_.end();
  const int64_t pid = workload_.pid();
  workload_.reap();
  OnSignal::wait_for([&] {
    source_->drain(listener_);
    return listener_.of(Kind::kExit, pid).size() >= 2;
  });
  source_->drain(listener_);
  EXPECT_EQ(listener_.of(Kind::kExit, pid).size(), 2U);
}

TEST_P(AdoptTest, AProcessThatIsGoneIsNoError) {
  const int64_t pid = workload_.pid();
  workload_.end();
  workload_.reap();
  EXPECT_TRUE(source_->adopt(pid).ok());
}

TEST(EverybodyByBpf, TellsOfStrangers) {
  auto source = watch_tasks_by_bpf(kEverybody);
  if (!source.ok()) GTEST_SKIP() << source.error().message;
  OnSignal stranger;
  const int64_t pid = stranger.pid();
  stranger.end();
  stranger.reap();
  Listener listener;
  OnSignal::wait_for([&] {
    source.value()->drain(listener);
    return listener.of(Kind::kExit, pid).size() >= 2;
  });
  const std::vector<Heard> forks = listener.of(Kind::kFork, pid);
  EXPECT_EQ(std::count_if(forks.begin(), forks.end(),
                          [](const Heard& fork) { return fork.tid == fork.pid; }),
            1);
  // Before its exec it is a copy of this test, in which a sanitizer may start a thread of its own.
  const bool sanitized = forks.size() == 3 && listener.of(Kind::kExit, pid).size() >= 3;
  EXPECT_TRUE(forks.size() == 2 || sanitized) << forks.size();
  EXPECT_EQ(listener.of(Kind::kExec, pid).size(), 1U);
}

TEST(ReadRunning, HasWhatEachThreadUsed) {
  const OnSignal workload;
  const auto before = read_running(workload.pid());
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(before->name, "on_signal");
  EXPECT_EQ(before->ppid, getpid());
  EXPECT_EQ(before->threads.size(), 2U);
  EXPECT_EQ(before->used.written_chars, 31 * 977);
  EXPECT_GT(before->used.peak_rss_bytes, int64_t{64} << 20);
  workload.write();
  const auto after = read_running(workload.pid());
  ASSERT_TRUE(after.has_value());
  int64_t written = 0;
  for (size_t i = 0; i < 2; ++i)
    written += *since(after->threads[i].used, before->threads[i].used).written_chars;
  EXPECT_EQ(written, kOnSignalWrites);
  EXPECT_EQ(since(after->used, before->used).written_chars, kOnSignalWrites);
}

TEST(ReadRunning, OfAZombieOrNobodyIsNothing) {
  OnSignal workload;
  const int64_t pid = workload.pid();
  workload.end();
  OnSignal::wait_for([&] {  // the second thread may take longer than the first
    return list_ids(proc_folder(pid) + "/task").value_or({}).size() == 1 &&
           read_proc_stat(proc_folder(pid)).value().state == 'Z';
  });
  EXPECT_FALSE(read_running(pid).has_value());
  workload.reap();
  EXPECT_FALSE(read_running(pid).has_value());
}

}  // namespace
}  // namespace fathom
