// SPDX-License-Identifier: Apache-2.0
// What all three sources must tell, on trees of known shape; what each one alone can, below.
#include "probe/resources/task_source.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "base/proc.h"
#include "launch/namespace_ids.h"
#include "probe/resources/watched_tree.h"

namespace fathom {
namespace {

using fixtures::Told;
using fixtures::watch_tree;
using fixtures::WatchedTree;
using Kind = TaskEvent::Kind;

constexpr int64_t kMib = int64_t{1} << 20;

struct Rung {
  const char* name;
  Result<std::unique_ptr<TaskSource>> (*watch)(int64_t root);
  bool sees_all;  // not only what a poll finds
};
constexpr Rung kRungs[] = {{"bpf", watch_tasks_by_bpf, true},
                           {"perf", watch_tasks_by_perf, true},
                           {"proc", watch_tasks_by_proc, false}};

// For the names of tests: gtest would print bytes.
void PrintTo(const Rung& rung, std::ostream* out) { *out << rung.name; }

class TaskSourceTest : public ::testing::TestWithParam<Rung> {
 protected:
  // Skips the test where this rung cannot start.
  void run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), fixtures::task_tree_program());
    tree_ = watch_tree(GetParam().watch, arguments);
    if (!tree_.error.empty()) GTEST_SKIP() << GetParam().name << ": " << tree_.error;
    EXPECT_EQ(tree_.dropped, 0);
  }
  [[nodiscard]] bool is(const char* name) const { return std::string(name) == GetParam().name; }
  [[nodiscard]] int64_t cpu_ns_of_all() const {
    int64_t sum = 0;
    for (const Told& exit : tree_.of(Kind::kExit)) sum += exit.usage.cpu_ns.value_or(0);
    return sum;
  }
  // Within a drain; what a drain tells may be older than all of the one before only where it is an
  // exit, whose figures the kernel was still writing.
  void expect_in_order_of_time() const {
    if (!GetParam().sees_all) return;
    for (size_t at = 1; at < tree_.events.size(); ++at) {
      const Told &before = tree_.events[at - 1], &told = tree_.events[at];
      const bool may_be_late = told.drain != before.drain && told.kind == Kind::kExit;
      EXPECT_TRUE(told.time_ns >= before.time_ns || may_be_late) << "event " << at;
    }
  }

  WatchedTree tree_;
};

int64_t cpu_ns(const rusage& used) {
  return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1'000'000'000 +
         (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
}

INSTANTIATE_TEST_SUITE_P(All, TaskSourceTest, ::testing::ValuesIn(kRungs),
                         [](const auto& rung) { return std::string(rung.param.name); });

TEST_P(TaskSourceTest, ThreeChildrenAndFiveThreads) {
  run({"children-threads", "3", "5", "20"});
  if (IsSkipped()) return;
  EXPECT_EQ(WEXITSTATUS(tree_.status), 7);
  std::set<int64_t> threads, children;
  for (const Told& fork : tree_.of(Kind::kFork)) {
    (fork.pid == tree_.root ? threads : children).insert(fork.tid);
    EXPECT_EQ(fork.ppid, tree_.root);
  }
  EXPECT_EQ(threads.size(), 5U);
  EXPECT_EQ(children.size(), 3U);
  EXPECT_EQ(tree_.of(Kind::kFork).size(), 8U);
  EXPECT_EQ(tree_.of(Kind::kExit).size(), 9U);
  EXPECT_EQ(tree_.processes_ended().size(), 4U);
  ASSERT_EQ(tree_.of(Kind::kExec).size(), 1U);
  EXPECT_EQ(tree_.of(Kind::kExec)[0].name, "task_tree");
  expect_in_order_of_time();
}

// On all CPUs at the same moment: nobody's end may be lost to another's.
TEST_P(TaskSourceTest, ManyEndTogether) {
  constexpr size_t kChildren = 60, kThreads = 60;
  run({"children-threads", std::to_string(kChildren), std::to_string(kThreads), "300"});
  if (IsSkipped()) return;
  std::set<int64_t> forked, ended;
  for (const Told& fork : tree_.of(Kind::kFork)) forked.insert(fork.tid);
  for (const Told& exit : tree_.of(Kind::kExit)) ended.insert(exit.tid);
  EXPECT_EQ(forked.size(), kChildren + kThreads);
  EXPECT_EQ(ended.size(), kChildren + kThreads + 1);
  EXPECT_EQ(tree_.processes_ended().size(), kChildren + 1);
}

// What the root waited before it became the target is the launcher's.
TEST_P(TaskSourceTest, NobodyWaitsLongerThanItLives) {
  std::atomic<bool> over = false;
  std::vector<std::thread> busy;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
    busy.emplace_back([&over] {
      while (!over) continue;
    });
  run({"nap", "1"});
  over = true;
  for (std::thread& thread : busy) thread.join();
  if (IsSkipped()) return;
  if (!is("bpf")) GTEST_SKIP() << "only bpf tells how long a task waited in all";
  const Told exec = tree_.of(Kind::kExec).at(0), exit = tree_.of(Kind::kExit).back();
  EXPECT_LE(exit.usage.wait_ns.value(), exit.time_ns - exec.time_ns);
}

TEST_P(TaskSourceTest, ExecTellsPathAndArguments) {
  run({"nap", "40"});
  if (IsSkipped()) return;
  ASSERT_EQ(tree_.of(Kind::kExec).size(), 1U);
  const Told exec = tree_.of(Kind::kExec)[0];
  EXPECT_EQ(exec.exe, fixtures::task_tree_program());
  EXPECT_EQ(exec.args, fixtures::task_tree_program() + std::string("\0nap\00040\0", 8));
}

TEST_P(TaskSourceTest, ShortChildrenAreAllSeen) {
  if (!GetParam().sees_all) GTEST_SKIP() << "polling does not see what lives between two polls";
  constexpr size_t kChildren = 2000;
  run({"spawn", std::to_string(kChildren)});
  if (IsSkipped()) return;
  std::set<int64_t> forked, executed, ended;
  for (const Told& told : tree_.events) {
    if (told.pid == tree_.root) continue;
    if (told.kind == Kind::kFork) forked.insert(told.pid);
    if (told.kind == Kind::kExec && told.name == "true") executed.insert(told.pid);
    if (told.kind == Kind::kExit && told.ends_process && told.usage.cpu_ns.value_or(0) > 0)
      ended.insert(told.pid);
  }
  EXPECT_EQ(forked.size(), kChildren);
  EXPECT_EQ(executed, forked);
  EXPECT_EQ(ended, forked);
  std::map<std::pair<int64_t, Kind>, int> twice;
  for (const Told& told : tree_.events) ++twice[{told.pid, told.kind}];
  std::erase_if(twice, [](const auto& entry) { return entry.second == 1; });
  EXPECT_EQ(tree_.seen, static_cast<int64_t>(3 * kChildren + 2))
      << "told " << tree_.events.size() << ", more than once: " << ::testing::PrintToString(twice);
  // Short tasks are where tick accounting errs: the exact figures must add up to what wait(2) says.
  // perf stops its clock a little before the end.
  const double slack = is("bpf") ? 0.02 : 0.3;
  const auto expected = static_cast<double>(cpu_ns(tree_.used));
  EXPECT_NEAR(static_cast<double>(cpu_ns_of_all()), expected, slack * expected);
}

TEST_P(TaskSourceTest, CpuTimeAddsUp) {
  run({"burn", "300"});
  if (IsSkipped()) return;
  // A poll misses what comes after its last look, at most one interval. The clock of perf runs on
  // while the host has taken the CPU away, that of the kernel's account does not.
  const double share = GetParam().sees_all ? 0.02 : 0.1;
  const double stolen = is("perf") ? static_cast<double>(tree_.stolen_ns) : 0;
  const auto expected = static_cast<double>(cpu_ns(tree_.used));
  EXPECT_NEAR(static_cast<double>(cpu_ns_of_all()), expected, share * expected + stolen);
}

TEST_P(TaskSourceTest, NamesMayHoldAnything) {
  run({"rename", "40"});
  if (IsSkipped()) return;
  const std::string odd = "a) R 1 (b\nc";
  const auto renames = tree_.of(Kind::kRename);
  ASSERT_EQ(tree_.of(Kind::kFork).size(), 1U);
  EXPECT_EQ(tree_.of(Kind::kFork)[0].name, odd);
  if (!GetParam().sees_all && renames.empty()) return;  // renamed before the first poll
  ASSERT_EQ(renames.size(), 1U);
  EXPECT_EQ(renames[0].name, odd);
  EXPECT_EQ(renames[0].tid, tree_.root);
}

TEST_P(TaskSourceTest, VforkIsFollowed) {
  if (!GetParam().sees_all) GTEST_SKIP() << "too short for a poll";
  run({"vfork"});
  if (IsSkipped()) return;
  ASSERT_EQ(tree_.of(Kind::kFork).size(), 1U);
  ASSERT_EQ(tree_.of(Kind::kExec).size(), 2U);
  EXPECT_EQ(tree_.of(Kind::kExec)[1].pid, tree_.of(Kind::kFork)[0].pid);
  if (is("bpf")) {
    EXPECT_EQ(tree_.of(Kind::kExec)[1].exe, "/bin/true");
    EXPECT_EQ(tree_.of(Kind::kExec)[1].args, std::string("true\0by vfork\0", 14));
  }
}

TEST_P(TaskSourceTest, ExecFromAnotherThread) {
  run({"exec-thread"});
  if (IsSkipped()) return;
  EXPECT_EQ(tree_.of(Kind::kFork).size(), 2U);
  const auto execs = tree_.of(Kind::kExec);
  ASSERT_EQ(execs.size(), 2U);
  EXPECT_EQ(execs[1].tid, tree_.root);
  std::set<int64_t> ended;
  for (const Told& exit : tree_.of(Kind::kExit)) ended.insert(exit.tid);
  EXPECT_EQ(ended.size(), 3U);  // each thread's id ends, also that of the one that lives on
  ASSERT_EQ(tree_.processes_ended().size(), 1U);
  EXPECT_EQ(tree_.processes_ended()[0].tid, tree_.root);
  EXPECT_TRUE(tree_.events.back().ends_process);
  if (!GetParam().sees_all) return;
  EXPECT_EQ(tree_.of(Kind::kExit).size(), 4U);
  EXPECT_EQ(
      std::count_if(tree_.events.begin(), tree_.events.end(),
                    [](const Told& told) { return told.kind == Kind::kExit && !told.has_usage; }),
      1);
}

TEST_P(TaskSourceTest, DaemonIsFollowedAfterItsParents) {
  run({"daemon", "40"});
  if (IsSkipped()) return;
  EXPECT_EQ(tree_.of(Kind::kFork).size(), 3U);
  EXPECT_EQ(tree_.processes_ended().size(), 4U);
}

// As an ordinary user: the child that becomes one tells by its exit status.
int watch_as_nobody(const Rung& rung) {
  if (setgid(65534) != 0 || setuid(65534) != 0) return 3;
  prctl(PR_SET_DUMPABLE, 1);  // setuid took it; a user's own processes have it
  constexpr const char* kScript = "sleep 100 & one=$!; sleep 100 & read -r _; kill $one $!; wait";
  const WatchedTree tree =
      watch_tree(rung.watch, {"/bin/sh", "-c", kScript},
                 [](const WatchedTree& so_far) { return so_far.of(Kind::kExec).size() == 3; });
  if (!tree.error.empty()) {
    std::fprintf(stderr, "%s: %s (%s)\n", rung.name, tree.error.c_str(), tree.cause.hint.c_str());
    return tree.cause.code == Code::kPermission && !tree.cause.hint.empty() ? 4 : 1;
  }
  const bool all = tree.of(Kind::kFork).size() == 2 && tree.processes_ended().size() == 3 &&
                   tree.of(Kind::kExec).size() == 3 && tree.dropped == 0;
  return all ? 0 : 1;
}

TEST_P(TaskSourceTest, WithoutPrivilege) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become an ordinary user";
  const pid_t child = fork();
  if (child == 0) _exit(watch_as_nobody(GetParam()));
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 4 && is("perf"))
    GTEST_SKIP() << "perf_event_paranoid forbids it to users";
  EXPECT_EQ(WEXITSTATUS(status), is("bpf") ? 4 : 0);
}

TEST_P(TaskSourceTest, NoSuchRoot) {
  const auto source = GetParam().watch(999'999'999);
  EXPECT_FALSE(source.ok());
}

WatchedTree use(int64_t written_bytes, int64_t touched_mib) {
  char path[] = "/tmp/fathom-use-XXXXXX";
  close(mkstemp(path));
  WatchedTree tree =
      watch_tree(watch_tasks_by_bpf, {fixtures::task_tree_program(), "use", path,
                                      std::to_string(written_bytes), std::to_string(touched_mib)});
  unlink(path);
  return tree;
}

TEST(BpfTasks, UsageAtExitIsExact) {
  constexpr int64_t kWritten = 47 * kMib + 13;
  const WatchedTree tree = use(kWritten, 123);
  if (!tree.error.empty()) GTEST_SKIP() << tree.error;
  ASSERT_EQ(tree.status, 0);
  ASSERT_EQ(tree.processes_ended().size(), 1U);
  const Told exit = tree.processes_ended()[0];
  EXPECT_EQ(exit.exit_code, 0);
  EXPECT_EQ(exit.usage.written_chars, kWritten);
  EXPECT_EQ(exit.usage.minor_faults, tree.used.ru_minflt);
  EXPECT_EQ(exit.usage.major_faults, tree.used.ru_majflt);
  EXPECT_EQ(exit.usage.voluntary_switches, tree.used.ru_nvcsw);
  EXPECT_EQ(exit.usage.involuntary_switches, tree.used.ru_nivcsw);
  EXPECT_EQ(*exit.usage.user_ns + *exit.usage.system_ns, exit.usage.cpu_ns);
  const auto cpu = static_cast<double>(cpu_ns(tree.used));
  EXPECT_NEAR(static_cast<double>(*exit.usage.cpu_ns), cpu, 0.02 * cpu);
}

TEST(BpfTasks, TellsWhatATaskIsCalledInItsNamespace) {
  const WatchedTree tree =
      watch_tree(watch_tasks_by_bpf, {"unshare", "--pid", "--fork", fixtures::task_tree_program(),
                                      "children-threads", "1", "1", "20"});
  if (!tree.error.empty()) GTEST_SKIP() << tree.error;
  const auto forks = tree.of(Kind::kFork);
  ASSERT_EQ(forks.size(), 3U);
  const Told& first = forks[0];
  EXPECT_EQ(first.inner_pid, 1);
  EXPECT_EQ(first.inner_tid, 1);
  std::set<int64_t> tids = {1};
  for (const Told& fork : forks) {
    EXPECT_NE(fork.pid_namespace, own_pid_namespace());
    EXPECT_EQ(fork.pid_namespace, first.pid_namespace);
    EXPECT_EQ(fork.inner_pid, fork.pid == fork.tid ? fork.inner_tid : 1);
    tids.insert(fork.inner_tid);
  }
  EXPECT_EQ(tids, (std::set<int64_t>{1, 2, 3}));
}

// Not compared with ru_maxrss: that one starts from the size of this test, whatever runs after
// exec.
TEST(BpfTasks, PeakIsWhatWasTouched) {
  const WatchedTree idle = use(0, 0);
  const WatchedTree tree = use(0, 123);
  if (!tree.error.empty()) GTEST_SKIP() << tree.error;
  ASSERT_EQ(idle.status, 0);
  ASSERT_EQ(idle.processes_ended().size(), 1U);
  ASSERT_EQ(tree.processes_ended().size(), 1U);
  const int64_t before = idle.processes_ended()[0].usage.peak_rss_bytes.value();
  EXPECT_GT(before, 0);
  EXPECT_LT(before, 8 * kMib);
  const auto expected = static_cast<double>(before + 123 * kMib);
  EXPECT_NEAR(static_cast<double>(tree.processes_ended()[0].usage.peak_rss_bytes.value()), expected,
              0.02 * expected);
}

TEST(BpfTasks, PeakIsThatOfTheProgramNotOfItsParent) {
  const std::vector<char> ballast(64 * kMib, 1);  // the child starts as a copy of this process
  const WatchedTree tree = watch_tree(watch_tasks_by_bpf, {"/bin/true"});
  if (!tree.error.empty()) GTEST_SKIP() << tree.error;
  ASSERT_EQ(tree.processes_ended().size(), 1U);
  EXPECT_EQ(ballast[kMib], 1);
  EXPECT_LT(tree.processes_ended()[0].usage.peak_rss_bytes.value(), 8 * kMib);
}

TEST(BpfTasks, ExitCodesAndSignals) {
  const WatchedTree tree =
      watch_tree(watch_tasks_by_bpf, {"/bin/sh", "-c", "(exit 41); (kill -9 $$); exit 0"});
  if (!tree.error.empty()) GTEST_SKIP() << tree.error;
  std::vector<int64_t> codes;
  for (const Told& ended : tree.processes_ended()) codes.push_back(ended.exit_code.value_or(-1));
  std::sort(codes.begin(), codes.end());
  ASSERT_FALSE(codes.empty());
  EXPECT_EQ(codes.back(), 41 << 8);
  EXPECT_EQ(std::count(codes.begin(), codes.end(), tree.status), 1);
}

}  // namespace
}  // namespace fathom
