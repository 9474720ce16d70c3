// SPDX-License-Identifier: Apache-2.0
#include "session/event_loop.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"

namespace fathom {
namespace {

constexpr int64_t kNever = 3600 * kNsPerSecond;
constexpr int64_t kPatience = 20 * kNsPerSecond;

sigset_t current_mask() {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return mask;
}

TEST(EventLoop, Ticks) {
  auto loop = EventLoop::create(2 * kNsPerMs);
  ASSERT_TRUE(loop.ok());
  for (int i = 0; i < 3; ++i) {
    const EventLoop::Event event = loop.value().wait(monotonic_ns() + kPatience);
    EXPECT_TRUE(event.tick);
    EXPECT_FALSE(event.target);
    EXPECT_EQ(event.signal, 0);
  }
}

TEST(EventLoop, ReturnsAtTheDeadline) {
  auto loop = EventLoop::create(kNever);
  ASSERT_TRUE(loop.ok());
  const int64_t deadline_ns = monotonic_ns() + 20 * kNsPerMs;
  const EventLoop::Event event = loop.value().wait(deadline_ns);
  EXPECT_GE(monotonic_ns(), deadline_ns);
  EXPECT_FALSE(event.tick || event.target || event.signal != 0);
}

TEST(EventLoop, ReturnsAtOnceWhenTheDeadlineHasPassed) {
  auto loop = EventLoop::create(kNever);
  ASSERT_TRUE(loop.ok());
  const EventLoop::Event event = loop.value().wait(1);
  EXPECT_FALSE(event.tick || event.target || event.signal != 0);
}

TEST(EventLoop, SaysThatADescriptorIsReady) {
  auto loop = EventLoop::create(kNever);
  ASSERT_TRUE(loop.ok());
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  ASSERT_TRUE(loop.value().watch(pipe.value().first.get(), EventLoop::Source::kTarget).ok());
  ASSERT_TRUE(write_all(pipe.value().second.get(), "x").ok());
  EXPECT_TRUE(loop.value().wait(monotonic_ns() + kPatience).target);
}

TEST(EventLoop, SaysThatAPeerIsGone) {
  auto loop = EventLoop::create(kNever);
  ASSERT_TRUE(loop.ok());
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  ASSERT_TRUE(loop.value().watch(pipe.value().first.get(), EventLoop::Source::kTarget).ok());
  pipe.value().second.reset();
  EXPECT_TRUE(loop.value().wait(monotonic_ns() + kPatience).target);
}

TEST(EventLoop, ReadsSignalsOneByOne) {
  auto loop = EventLoop::create(kNever);
  ASSERT_TRUE(loop.ok());
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH}) {
    raise(number);
    EXPECT_EQ(loop.value().wait(monotonic_ns() + kPatience).signal, number);
  }
  raise(SIGUSR1);
  raise(SIGUSR2);
  const int first = loop.value().wait(monotonic_ns() + kPatience).signal;
  const int second = loop.value().wait(monotonic_ns() + kPatience).signal;
  EXPECT_EQ(first + second, SIGUSR1 + SIGUSR2);
}

TEST(EventLoop, RestoresTheMask) {
  const sigset_t before = current_mask();
  {
    auto loop = EventLoop::create(kNever);
    ASSERT_TRUE(loop.ok());
    const sigset_t within = current_mask();
    EXPECT_EQ(sigismember(&within, SIGTERM), 1);
    EXPECT_EQ(sigismember(&loop.value().mask_before(), SIGTERM), sigismember(&before, SIGTERM));
  }
  const sigset_t after = current_mask();
  for (int number = 1; number < SIGRTMAX; ++number) {
    EXPECT_EQ(sigismember(&after, number), sigismember(&before, number)) << number;
  }
}

TEST(EventLoop, RefusesABadDescriptor) {
  auto loop = EventLoop::create(kNever);
  ASSERT_TRUE(loop.ok());
  EXPECT_FALSE(loop.value().watch(-1, EventLoop::Source::kTarget).ok());
}

}  // namespace
}  // namespace fathom
