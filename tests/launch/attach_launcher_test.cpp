// SPDX-License-Identifier: Apache-2.0
#include "launch/attach_launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "base/fd.h"
#include "base/proc.h"
#include "launch/pidfd.h"
#include "support/on_signal.h"

namespace fathom {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Result<std::unique_ptr<Target>> attach(const std::string& pids) {
  LaunchRequest request;
  request.attach_to = pids;
  return attach_pid(request);
}

std::string refusal(const std::string& pids) {
  const auto target = attach(pids);
  return target.ok() ? "attached" : target.error().message + " | " + target.error().hint;
}

bool readable(int fd) {
  pollfd watched{fd, POLLIN, 0};
  return poll(&watched, 1, 0) == 1;
}

TEST(AttachPid, SaysWhatIsWatched) {
  const OnSignal workload;
  auto target = attach(std::to_string(workload.pid()));
  ASSERT_TRUE(target.ok()) << target.error().message;
  const Scope scope = target.value()->scope();
  EXPECT_TRUE(scope.attached);
  EXPECT_EQ(scope.kind, Scope::Kind::kTree);
  EXPECT_THAT(scope.roots, ElementsAre(workload.pid()));
  EXPECT_EQ(scope.title, "pid " + std::to_string(workload.pid()) + " (on_signal)");
  EXPECT_EQ(target.value()->pid(), workload.pid());
  EXPECT_EQ(target.value()->cgroup(), nullptr);
  EXPECT_TRUE(target.value()->go().ok());
  EXPECT_FALSE(target.value()->over());
  EXPECT_FALSE(readable(target.value()->event_fd()));
}

TEST(AttachPid, SignalsNobody) {
  const OnSignal workload;
  auto target = attach(std::to_string(workload.pid()));
  ASSERT_TRUE(target.ok());
  target.value()->signal(SIGKILL);
  target.value()->finish();
  target.value().reset();
  workload.write();  // waits for its answer
}

TEST(AttachPid, KnowsHowAZombieEnded) {
  const OnSignal workload;
  auto target = attach(std::to_string(workload.pid()));
  ASSERT_TRUE(target.ok());
  workload.end();
  OnSignal::wait_for([&] { return readable(target.value()->event_fd()); });
  ASSERT_TRUE(target.value()->over());
  ASSERT_TRUE(target.value()->end_status().has_value());
  EXPECT_EQ(WEXITSTATUS(*target.value()->end_status()), 3);
  EXPECT_FALSE(readable(target.value()->event_fd())) << "it would wake the recorder for ever";
}

TEST(AttachPid, KnowsHowAReapedOneEndedOrSaysNothing) {
  OnSignal workload;
  auto target = attach(std::to_string(workload.pid()));
  ASSERT_TRUE(target.ok());
  workload.end();
  workload.reap();
  ASSERT_TRUE(target.value()->over());
  if (!target.value()->end_status()) GTEST_SKIP() << "this kernel forgets how a process ended";
  EXPECT_EQ(WEXITSTATUS(*target.value()->end_status()), 3);
}

TEST(AttachPid, IsOverWhenAllHaveEnded) {
  OnSignal one, other;
  const std::string both = std::to_string(one.pid()) + "," + std::to_string(other.pid());
  auto target = attach(both + "," + std::to_string(one.pid()));
  ASSERT_TRUE(target.ok());
  EXPECT_THAT(target.value()->scope().roots, ElementsAre(one.pid(), other.pid()));
  EXPECT_THAT(target.value()->scope().title, HasSubstr("pids "));
  one.end();
  one.reap();
  EXPECT_FALSE(target.value()->over());
  other.end();
  other.reap();
  EXPECT_TRUE(target.value()->over());
  EXPECT_FALSE(target.value()->end_status().has_value()) << "whose would it be";
}

TEST(AttachPid, RefusesWhatIsNoProcess) {
  for (const char* text : {"x", "12x", "-1", "0", ",", "1,,2", "99999999999"})
    EXPECT_THAT(refusal(text), HasSubstr("is no process id")) << text;
  EXPECT_THAT(refusal(""), HasSubstr("no process id"));
  EXPECT_THAT(refusal("4194305"), HasSubstr("there is no process 4194305"));
}

TEST(AttachPid, RefusesItself) {
  EXPECT_THAT(refusal(std::to_string(getpid())), HasSubstr("this fathom itself"));
}

TEST(AttachPid, RefusesAThreadAndNamesItsProcess) {
  const OnSignal workload;
  const auto threads = list_ids(proc_folder(workload.pid()) + "/task");
  ASSERT_EQ(threads.value().size(), 2U);
  const int64_t second = std::max(threads.value()[0], threads.value()[1]);
  const std::string process = std::to_string(workload.pid());
  EXPECT_EQ(refusal(std::to_string(second)), std::to_string(second) + " is a thread of process " +
                                                 process + " | fathom run --pid " + process);
}

TEST(AttachPid, RefusesAZombie) {
  const OnSignal workload;
  workload.end();
  const Fd pidfd = open_pidfd(workload.pid()).value();
  OnSignal::wait_for([&] { return pidfd_ended(pidfd.get()); });
  EXPECT_THAT(refusal(std::to_string(workload.pid())),
              HasSubstr("(on_signal) has ended; its parent, process " + std::to_string(getpid())));
}

TEST(AttachPid, RefusesAThreadOfTheKernel) {
  const auto stat = read_proc_stat("/proc/2");
  if (!stat.ok() || !stat.value().is_kernel_thread) GTEST_SKIP() << "none to be seen here";
  EXPECT_THAT(refusal("2"), HasSubstr("is a thread of the kernel | fathom run --system"));
}

TEST(AttachPid, RefusesAnotherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const OnSignal workload;
  const pid_t child = fork();
  if (child == 0) {
    if (setresuid(65534, 65534, 65534) != 0) _exit(9);
    const std::string said = refusal(std::to_string(workload.pid()));
    const bool right = said.find("another user's") != std::string::npos &&
                       said.find("sudo fathom run --pid") != std::string::npos;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(ProcessesIn, ListsTheTreeWithoutThisProcess) {
  const OnSignal workload;
  auto target = attach(std::to_string(getppid()) + "," + std::to_string(workload.pid()));
  if (!target.ok()) GTEST_SKIP() << target.error().message;
  const std::vector<int64_t> pids = processes_in(*target.value());
  EXPECT_THAT(pids, Contains(workload.pid()));
  EXPECT_THAT(pids, Contains(getppid()));
  EXPECT_THAT(pids, Not(Contains(getpid())));
}

TEST(ProcessesIn, OfTheHostAreNoKernelThreads) {
  const OnSignal workload;
  auto target = attach_system({});
  ASSERT_TRUE(target.ok());
  EXPECT_FALSE(target.value()->over());
  EXPECT_EQ(target.value()->scope().kind, Scope::Kind::kSystem);
  EXPECT_EQ(target.value()->pid(), 0);
  const std::vector<int64_t> pids = processes_in(*target.value());
  EXPECT_THAT(pids, Contains(workload.pid()));
  EXPECT_THAT(pids, Not(Contains(2)));
}

TEST(AttachCgroup, IsOverWhenItIsEmpty) {
  auto made = Cgroup::create("attach-test");
  if (!made.ok()) GTEST_SKIP() << made.error().message;
  Cgroup cgroup = std::move(made).value();
  LaunchRequest request;
  request.attach_to = cgroup.any_folder();
  const auto empty = attach_cgroup(request);
  ASSERT_FALSE(empty.ok());
  EXPECT_THAT(empty.error().message, HasSubstr("no process is in cgroup"));
  std::unique_ptr<Target> attached;
  {
    const OnSignal workload;
    ASSERT_TRUE(cgroup.add(workload.pid()).ok());
    for (const std::string& name : {cgroup.any_folder(), std::to_string(workload.pid())}) {
      request.attach_to = name;
      auto target = attach_cgroup(request);
      ASSERT_TRUE(target.ok()) << target.error().message;
      EXPECT_EQ(target.value()->cgroup()->any_folder(), cgroup.any_folder());
      EXPECT_THAT(processes_in(*target.value()), ElementsAre(workload.pid()));
      EXPECT_FALSE(target.value()->over());
      attached = std::move(target).value();
    }
  }
  EXPECT_TRUE(attached->over());
  attached.reset();
  EXPECT_EQ(access(cgroup.any_folder().c_str(), F_OK), 0) << "it was not ours to remove";
  cgroup.remove();
}

}  // namespace
}  // namespace fathom
