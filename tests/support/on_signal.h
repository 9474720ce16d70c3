// SPDX-License-Identifier: Apache-2.0
// The workload on_signal, started and ready, so that tests can attach to it; see its source for
// what it does. Killed at the end. One thread.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "support/folders.h"
#include "support/temp_folder.h"

namespace fathom {

class OnSignal {
 public:
  OnSignal() {
    const std::string program = build_folder() + "/workloads/on_signal";
    pid_ = fork();
    if (pid_ == 0) {
      execl(program.c_str(), program.c_str(), folder_.path().c_str(), nullptr);
      _exit(127);
    }
    wait_for([this] { return said("ready"); });
  }
  ~OnSignal() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  OnSignal(const OnSignal&) = delete;
  OnSignal& operator=(const OnSignal&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // 23 writes of 4,099 bytes by two threads.
  void write() const { ask(SIGUSR1, "wrote"); }
  // A child that writes 7 times 1,009 bytes and is waited for.
  void start_child() const { ask(SIGUSR2, "forked"); }
  // Asks it to exit with 3, without waiting.
  void end() const { kill(pid_, SIGTERM); }
  void reap() {
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  // False: in vain.
  static bool wait_for(const std::function<bool()>& done) {
    for (int left = 4000; left > 0 && !done(); --left)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const bool is_done = done();
    EXPECT_TRUE(is_done);
    return is_done;
  }

 private:
  [[nodiscard]] bool said(const char* word) const {
    return access((folder_ / word).c_str(), F_OK) == 0;
  }
  void ask(int number, const char* answer) const {
    rmdir((folder_ / answer).c_str());
    kill(pid_, number);
    wait_for([&] { return said(answer); });
  }

  TempFolder folder_;
  pid_t pid_ = -1;
};

constexpr int64_t kOnSignalWrites = 23 * 4099;
constexpr int64_t kOnSignalChildWrites = 7 * 1009;

}  // namespace fathom
