// SPDX-License-Identifier: Apache-2.0
#include "launch/process_launcher.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>

#include "base/fd.h"
#include "support/folders.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

constexpr int kPatienceMs = 20'000;

// A launch of `sh -c SCRIPT` in a folder of its own.
class Launched : public ::testing::Test {
 protected:
  void SetUp() override { setenv("FATHOM_HOME", build_folder().c_str(), 1); }
  void TearDown() override {
    if (target_) target_->signal(SIGKILL);
    unsetenv("FATHOM_HOME");
  }

  LaunchRequest request(std::vector<std::string> command) {
    LaunchRequest request;
    request.run_label = "test";
    request.command = std::move(command);
    request.cwd = folder_.path();
    sigemptyset(&request.signal_mask);
    return request;
  }

  Status launch(const LaunchRequest& request) {
    TRY_ASSIGN(target_, launch_process(request));
    return target_->go();
  }

  void start(const std::string& script) {
    const auto started = launch(request({"sh", "-c", script}));
    ASSERT_TRUE(started.ok()) << started.error().message;
  }

  // Departures until `enough` of them; the test's patience ends it too.
  std::vector<Departure> departures(const std::function<bool(const Departure&)>& enough) {
    std::vector<Departure> all;
    while (true) {
      pollfd ready{target_->event_fd(), POLLIN, 0};
      if (poll(&ready, 1, kPatienceMs) != 1) return all;
      for (const Departure& departure : target_->departures()) {
        all.push_back(departure);
        if (enough(departure)) return all;
      }
    }
  }
  Departure main_departure() {
    const auto all = departures([](const Departure& departure) { return departure.is_main; });
    EXPECT_FALSE(all.empty());
    return all.empty() ? Departure() : all.back();
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return folder_.path() + "/" + name;
  }
  // Waits for a file that the target makes.
  [[nodiscard]] bool appears(const std::string& name) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
    while (!std::filesystem::exists(path(name))) {
      if (std::chrono::steady_clock::now() > end) return false;
      usleep(2000);
    }
    return true;
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    return read_file(path(name)).value_or("absent");
  }

  TempFolder folder_;
  std::unique_ptr<Target> target_;
};

TEST_F(Launched, WaitsForGo) {
  auto target = launch_process(request({"touch", "ran"}));
  ASSERT_TRUE(target.ok()) << target.error().message;
  target_ = std::move(target).value();
  EXPECT_EQ(kill(static_cast<pid_t>(target_->pid()), 0), 0);
  EXPECT_FALSE(std::filesystem::exists(path("ran")));
  ASSERT_TRUE(target_->go().ok());
  const Departure departure = main_departure();
  EXPECT_EQ(departure.status, 0);
  EXPECT_EQ(departure.pid, target_->pid());
  EXPECT_TRUE(std::filesystem::exists(path("ran")));
}

TEST_F(Launched, NeverRunsIfNobodySaysGo) {
  auto target = launch_process(request({"touch", "ran"}));
  ASSERT_TRUE(target.ok());
  const auto pid = static_cast<pid_t>(target.value()->pid());
  target.value().reset();
  EXPECT_FALSE(std::filesystem::exists(path("ran")));
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (kill(pid, 0) == 0 && std::chrono::steady_clock::now() < end) usleep(2000);
  EXPECT_NE(kill(pid, 0), 0) << "it is still there";
}

TEST_F(Launched, MissingCommand) {
  const auto started = launch(request({"no-such-command"}));
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, Code::kCommandNotFound);
  EXPECT_EQ(started.error().message, "no-such-command: command not found");
  EXPECT_NE(started.error().hint, "");
}

TEST_F(Launched, MissingFile) {
  const auto started = launch(request({"./absent"}));
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, Code::kCommandNotFound);
}

TEST_F(Launched, FileThatIsNotExecutable) {
  ASSERT_TRUE(write_file(path("script"), "exit 0\n").ok());
  const auto started = launch(request({"./script"}));
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, Code::kCommandNotExecutable);
  EXPECT_NE(started.error().hint.find("chmod +x"), std::string::npos);
}

TEST_F(Launched, MissingFolder) {
  LaunchRequest wanted = request({"true"});
  wanted.cwd = path("absent");
  const auto started = launch(wanted);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, Code::kInvalid);
  EXPECT_NE(started.error().message.find(path("absent")), std::string::npos);
}

TEST_F(Launched, NoCommand) {
  EXPECT_EQ(launch_process(request({})).error().code, Code::kInvalid);
  EXPECT_EQ(launch_process(request({""})).error().code, Code::kInvalid);
}

TEST_F(Launched, MissingSpawner) {
  setenv("FATHOM_HOME", folder_.path().c_str(), 1);
  const auto started = launch(request({"true"}));
  ASSERT_FALSE(started.ok());
  EXPECT_NE(started.error().code, Code::kCommandNotFound)
      << "that would say the command was not found";
}

TEST_F(Launched, EnvironmentAndFolder) {
  setenv("FATHOM_TEST_KEPT", "kept", 1);
  setenv("FATHOM_TEST_OVER", "before", 1);
  LaunchRequest wanted = request(
      {"sh", "-c", "echo \"$FATHOM_TEST_KEPT $FATHOM_TEST_OVER $NEW\" >seen; pwd -P >>seen"});
  wanted.environment = {"FATHOM_TEST_OVER=after", "NEW=a b"};
  ASSERT_TRUE(launch(wanted).ok());
  EXPECT_EQ(main_departure().status, 0);
  EXPECT_EQ(content("seen"),
            "kept after a b\n" + std::filesystem::canonical(folder_.path()).string() + "\n");
  unsetenv("FATHOM_TEST_KEPT");
  unsetenv("FATHOM_TEST_OVER");
}

TEST_F(Launched, StatusOfExitAndSignal) {
  start("exit 7");
  const Departure left = main_departure();
  EXPECT_TRUE(WIFEXITED(left.status));
  EXPECT_EQ(WEXITSTATUS(left.status), 7);
  target_->finish();
  start("kill -SEGV $$");
  const Departure killed = main_departure();
  EXPECT_TRUE(WIFSIGNALED(killed.status));
  EXPECT_EQ(WTERMSIG(killed.status), SIGSEGV);
}

TEST_F(Launched, FiguresOfTheDeparted) {
  start("head -c 1000003 /dev/zero >file; exit 0");
  const Departure departure = main_departure();
  ASSERT_TRUE(departure.io.has_value());
  EXPECT_EQ(departure.io->written_chars, 1000003) << "the child that was waited for is in it";
  EXPECT_GE(departure.io->read_chars, 1000003);
  EXPECT_LT(departure.io->read_chars, 1000003 + 200'000);
  EXPECT_GT(departure.user_ns + departure.system_ns, 0);
  EXPECT_GT(departure.max_rss_bytes, 100 << 10);
  EXPECT_GT(departure.minor_faults, 0);
  EXPECT_GT(departure.time_ns, 0);
}

TEST_F(Launched, OrphansAreReapedWithTheirFigures) {
  start(
      "(sh -c 'echo $$ >orphan; until test -e go; do sleep 0.01; done; head -c 500009 /dev/zero "
      ">file; exit 9' &); "
      "until test -s orphan; do sleep 0.01; done; exit 3");
  EXPECT_EQ(WEXITSTATUS(main_departure().status), 3);
  const int64_t orphan = std::stoll(content("orphan"));
  ASSERT_TRUE(write_file(path("go"), "").ok());
  const auto all = departures([&](const Departure& departure) { return departure.pid == orphan; });
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.back().pid, orphan);
  EXPECT_FALSE(all.back().is_main);
  EXPECT_EQ(WEXITSTATUS(all.back().status), 9);
  ASSERT_TRUE(all.back().io.has_value());
  EXPECT_EQ(all.back().io->written_chars, 500009 + static_cast<int64_t>(content("orphan").size()));
}

TEST_F(Launched, SignalsGoToTheGroup) {
  start(
      "trap 'touch parent' USR1; "
      "sh -c 'trap \"touch child; exit 0\" USR1; touch ready; while :; do sleep 0.01; done' & "
      "while ! test -e child || ! test -e parent; do sleep 0.01; done; exit 5");
  ASSERT_TRUE(appears("ready"));
  target_->signal(SIGUSR1);
  EXPECT_EQ(WEXITSTATUS(main_departure().status), 5);
  EXPECT_TRUE(std::filesystem::exists(path("child")));
}

TEST_F(Launched, HasAGroupOfItsOwn) {
  start("touch ready; exec sleep 100");
  ASSERT_TRUE(appears("ready"));
  const auto pid = static_cast<pid_t>(target_->pid());
  EXPECT_EQ(getpgid(pid), pid);
  EXPECT_NE(getpgid(pid), getpgrp());
  target_->signal(SIGTERM);
  EXPECT_EQ(WTERMSIG(main_departure().status), SIGTERM);
}

TEST_F(Launched, SignalMaskIsTheOneAskedFor) {
  LaunchRequest wanted = request({"cp", "/proc/self/status", "mask"});
  sigaddset(&wanted.signal_mask, SIGUSR2);
  ASSERT_TRUE(launch(wanted).ok());
  EXPECT_EQ(main_departure().status, 0);
  EXPECT_NE(content("mask").find("SigBlk:\t0000000000000800\n"), std::string::npos);
}

TEST_F(Launched, NoDescriptorOfOursIsPassedOn) {
  start("ls -l /proc/self/fd >fds");
  EXPECT_EQ(main_departure().status, 0);
  EXPECT_EQ(content("fds").find("socket:"), std::string::npos) << content("fds");
  EXPECT_EQ(content("fds").find("signalfd"), std::string::npos) << content("fds");
}

TEST_F(Launched, CgroupHoldsTheTreeAndGoesWithIt) {
  start("(sleep 100 &) ; touch ready; until test -e go; do sleep 0.01; done");
  ASSERT_TRUE(appears("ready"));
  if (target_->cgroup() == nullptr) {
    target_->signal(SIGKILL);
    GTEST_SKIP() << "no cgroup can be made here";
  }
  const std::string leaf = target_->cgroup()->unified().empty() ? target_->cgroup()->memory()
                                                                : target_->cgroup()->unified();
  const std::string members = read_file(leaf + "/cgroup.procs").value_or("");
  EXPECT_NE(members.find(std::to_string(target_->pid()) + "\n"), std::string::npos) << members;
  EXPECT_GE(std::count(members.begin(), members.end(), '\n'), 2)
      << "its child is in it: " << members;
  ASSERT_TRUE(write_file(path("go"), "").ok());
  main_departure();
  target_->signal(SIGKILL);
  target_->finish();
  EXPECT_FALSE(std::filesystem::exists(leaf));
}

TEST(AllLaunchers, AreFoundByName) {
  ASSERT_NE(find_launcher("process"), nullptr);
  EXPECT_EQ(find_launcher("nothing"), nullptr);
  for (const LauncherInfo& launcher : all_launchers())
    EXPECT_EQ(find_launcher(launcher.name), &launcher);
}

}  // namespace
}  // namespace fathom
