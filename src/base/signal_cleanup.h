// SPDX-License-Identifier: Apache-2.0
// Runs a function before SIGINT, SIGTERM or SIGHUP ends the process, for example to remove
// temporary files. The function runs in a thread of its own, so it may do anything; then the signal
// ends the process as if it had not been caught. Signals that are ignored or blocked when it is
// made are left to whoever did that. Make it before other threads: they must inherit the blocked
// signals.
#pragma once

#include <signal.h>

#include <functional>
#include <thread>

#include "base/fd.h"

namespace fathom {

class SignalCleanup {
 public:
  explicit SignalCleanup(std::function<void()> cleanup);
  SignalCleanup(const SignalCleanup&) = delete;
  SignalCleanup& operator=(const SignalCleanup&) = delete;
  ~SignalCleanup();

 private:
  void watch(const std::function<void()>& cleanup) const;

  sigset_t caught_{}, before_{};
  Fd signals_, stop_;
  std::thread thread_;
};

}  // namespace fathom
