// SPDX-License-Identifier: Apache-2.0
#include "base/signal_cleanup.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace fathom {

SignalCleanup::SignalCleanup(std::function<void()> cleanup) {
  pthread_sigmask(SIG_SETMASK, nullptr, &before_);
  sigemptyset(&caught_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (action.sa_handler == SIG_DFL && sigismember(&before_, number) == 0)
      sigaddset(&caught_, number);
  }
  signals_ = Fd(signalfd(-1, &caught_, SFD_CLOEXEC));
  stop_ = Fd(eventfd(0, EFD_CLOEXEC));
  if (!signals_.valid() || !stop_.valid()) return;
  pthread_sigmask(SIG_BLOCK, &caught_, nullptr);
  thread_ = std::thread([this, cleanup = std::move(cleanup)] { watch(cleanup); });
}

SignalCleanup::~SignalCleanup() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  (void)!write(stop_.get(), &one, sizeof one);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void SignalCleanup::watch(const std::function<void()>& cleanup) const {
  pollfd waits[] = {{signals_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
  while (poll(waits, 2, -1) < 0 && errno == EINTR) {
  }
  signalfd_siginfo info{};
  if ((waits[0].revents & POLLIN) == 0) return;
  if (read(signals_.get(), &info, sizeof info) != sizeof info) return;
  cleanup();
  kill(getpid(), static_cast<int>(info.ssi_signo));  // blocked everywhere but here
  pthread_sigmask(SIG_UNBLOCK, &caught_, nullptr);
}

}  // namespace fathom
