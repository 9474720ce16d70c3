// SPDX-License-Identifier: Apache-2.0
#include "probe/quiet_wake.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace fathom {
namespace {

Status control(const Fd& gate, int operation, int fd, bool on) {
  epoll_event event{};
  event.events = on ? uint32_t{EPOLLIN} : 0;
  event.data.fd = fd;
  if (epoll_ctl(gate.get(), operation, fd, &event) != 0) return errno_error("watch the socket");
  return {};
}

}  // namespace

Status QuietWake::watch(int fd) {
  gate_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  timer_ = Fd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!gate_.valid() || !timer_.valid()) return errno_error("watch the socket");
  watched_ = fd;
  TRY(control(gate_, EPOLL_CTL_ADD, timer_.get(), true));
  return control(gate_, EPOLL_CTL_ADD, watched_, true);
}

bool QuietWake::due() {
  if (listening_) return true;
  uint64_t expirations = 0;
  return read(timer_.get(), &expirations, sizeof expirations) == sizeof expirations;
}

void QuietWake::looked(bool anything) {
  if (anything) {
    if (listening_) listen(false);
    itimerspec pause{};
    pause.it_value.tv_nsec = kPauseNs;
    timerfd_settime(timer_.get(), 0, &pause, nullptr);
  } else if (!listening_) {
    listen(true);
  }
}

void QuietWake::listen(bool on) {
  listening_ = on || !control(gate_, EPOLL_CTL_MOD, watched_, false).ok();
  if (on) (void)control(gate_, EPOLL_CTL_MOD, watched_, true);
}

}  // namespace fathom
