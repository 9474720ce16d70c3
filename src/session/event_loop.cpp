// SPDX-License-Identifier: Apache-2.0
#include "session/event_loop.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/clock.h"

namespace fathom {
namespace {

constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};

// Tags of our own descriptors, beside those of Source.
constexpr uint32_t kTimer = 100;
constexpr uint32_t kSignals = 101;

}  // namespace

Result<EventLoop> EventLoop::create(int64_t tick_ns) {
  EventLoop loop;
  sigset_t watched;
  sigemptyset(&watched);
  for (const int number : kForwarded) {
    // What was ignored when we started (nohup, a background job) stays ignored.
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&watched, number);
  }
  pthread_sigmask(SIG_BLOCK, &watched, &loop.mask_before_);
  loop.signals_ = Fd(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  loop.timer_ = Fd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  loop.poll_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  if (!loop.signals_.valid() || !loop.timer_.valid() || !loop.poll_.valid())
    return errno_error("set up the event loop");
  itimerspec period{};
  period.it_interval.tv_sec = tick_ns / kNsPerSecond;
  period.it_interval.tv_nsec = tick_ns % kNsPerSecond;
  period.it_value = period.it_interval;
  timerfd_settime(loop.timer_.get(), 0, &period, nullptr);
  TRY(loop.add(loop.signals_.get(), kSignals, 0));
  TRY(loop.add(loop.timer_.get(), kTimer, 0));
  return loop;
}

EventLoop::~EventLoop() {
  if (poll_.valid()) pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

Status EventLoop::watch(int fd, Source source) const {
  return add(fd, static_cast<uint32_t>(source), source == Source::kProbe ? uint32_t{EPOLLET} : 0);
}

Status EventLoop::add(int fd, uint32_t tag, uint32_t mode) const {
  epoll_event event{};
  event.events = EPOLLIN | mode;
  event.data.u32 = tag;
  if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return errno_error("watch a descriptor");
  return {};
}

EventLoop::Event EventLoop::wait(int64_t deadline_ns) const {
  int timeout_ms = -1;
  if (deadline_ns > 0) {
    const int64_t left_ns = std::max<int64_t>(0, deadline_ns - monotonic_ns());
    timeout_ms =
        static_cast<int>(std::min<int64_t>((left_ns + kNsPerMs - 1) / kNsPerMs, 3'600'000));
  }
  std::array<epoll_event, 16> ready{};
  const int count =
      epoll_wait(poll_.get(), ready.data(), static_cast<int>(ready.size()), timeout_ms);
  Event event;
  for (int i = 0; i < count; ++i) {
    const uint32_t tag = ready[static_cast<size_t>(i)].data.u32;
    if (tag == kTimer) {
      uint64_t expirations = 0;
      event.tick = read(timer_.get(), &expirations, sizeof expirations) == sizeof expirations;
    } else if (tag == kSignals) {
      signalfd_siginfo info{};
      if (read(signals_.get(), &info, sizeof info) == sizeof info)
        event.signal = static_cast<int>(info.ssi_signo);
    } else {
      event.target = event.target || tag == static_cast<uint32_t>(Source::kTarget);
      event.probe = event.probe || tag == static_cast<uint32_t>(Source::kProbe);
    }
  }
  return event;
}

}  // namespace fathom
