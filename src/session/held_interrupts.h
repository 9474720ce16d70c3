// SPDX-License-Identifier: Apache-2.0
// Ctrl-C is the target's while that runs (event_loop.h). From its end until this object's, it is
// nobody's: what was recorded is still to be shown and kept. Belongs to the main thread.
#pragma once

#include <signal.h>
#include <time.h>

namespace fathom {

class HeldInterrupts {
 public:
  HeldInterrupts() {
    sigemptyset(&interrupt_);
    sigaddset(&interrupt_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt_, &before_);
  }
  ~HeldInterrupts() {
    const timespec at_once{};
    if (!held()) return;
    while (sigtimedwait(&interrupt_, nullptr, &at_once) == SIGINT) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HeldInterrupts(const HeldInterrupts&) = delete;
  HeldInterrupts& operator=(const HeldInterrupts&) = delete;

  // False: whoever started us wants none, as before.
  [[nodiscard]] bool held() const { return sigismember(&before_, SIGINT) == 0; }

 private:
  sigset_t interrupt_{}, before_{};
};

}  // namespace fathom
