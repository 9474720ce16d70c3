// SPDX-License-Identifier: Apache-2.0
#include "session/bpf_clock.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

// Programs that use `rate` nanoseconds per nanosecond, and a kernel that counts while it measures.
class FakeKernel {
 public:
  BpfClock::Kernel kernel(bool always) {
    return {[this](const std::vector<int>& programs) { return programs.empty() ? 0 : counted_ns_; },
            [this] {
              const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
              measuring_fd_ = fd;
              return Fd(fd);
            },
            [this, always] { return always_ = always; }};
  }
  void pass(int64_t ns, int64_t rate) {
    now_ns_ += ns;
    const bool measuring = always_ || (measuring_fd_ >= 0 && fcntl(measuring_fd_, F_GETFD) >= 0);
    if (measuring) counted_ns_ += ns * rate;
  }
  [[nodiscard]] int64_t now_ns() const { return now_ns_; }
  [[nodiscard]] int64_t counted_ns() const { return counted_ns_; }

 private:
  int64_t now_ns_ = 1000, counted_ns_ = 0;
  int measuring_fd_ = -1;
  bool always_ = false;
};

TEST(BpfClock, TheFirstIntervalIsMeasured) {
  FakeKernel kernel;
  BpfClock clock(kernel.kernel(false));
  clock.begin({1}, kernel.now_ns());
  kernel.pass(70, 3);
  EXPECT_EQ(clock.finish(kernel.now_ns()), 210);
}

TEST(BpfClock, TheTimeBetweenMeasurementsIsEstimatedFromThoseAroundIt) {
  FakeKernel kernel;
  BpfClock clock(kernel.kernel(false));
  clock.begin({1}, kernel.now_ns());
  for (int i = 0; i < 10 * BpfClock::kPeriod; ++i) {
    kernel.pass(100, 2);
    clock.tick(kernel.now_ns());
  }
  kernel.pass(50, 2);
  const int64_t all_ns = (10 * BpfClock::kPeriod * 100 + 50) * 2;
  EXPECT_EQ(clock.finish(kernel.now_ns()), all_ns);
  EXPECT_LT(kernel.counted_ns(), all_ns / 10);
}

TEST(BpfClock, HalfOfTheTimeBetweenTwoMeasurementsHasTheRateOfEach) {
  FakeKernel kernel;
  BpfClock clock(kernel.kernel(false));
  clock.begin({1}, kernel.now_ns());
  kernel.pass(100, 2);
  clock.tick(kernel.now_ns());
  for (int64_t i = 1; i < BpfClock::kPeriod; ++i) {
    kernel.pass(100, 0);
    clock.tick(kernel.now_ns());
  }
  kernel.pass(100, 4);
  EXPECT_EQ(clock.finish(kernel.now_ns()), 200 + (BpfClock::kPeriod - 1) * 100 * 3 + 400);
}

TEST(BpfClock, WhatTheKernelAlwaysMeasuresIsExact) {
  FakeKernel kernel;
  BpfClock clock(kernel.kernel(true));
  clock.begin({1}, kernel.now_ns());
  for (int i = 0; i < 100; ++i) {
    kernel.pass(100, i);
    clock.tick(kernel.now_ns());
  }
  EXPECT_EQ(clock.finish(kernel.now_ns()), kernel.counted_ns());
}

TEST(BpfClock, WithoutProgramsNothingIsKnown) {
  FakeKernel kernel;
  BpfClock clock(kernel.kernel(false));
  clock.begin({}, kernel.now_ns());
  clock.tick(kernel.now_ns());
  EXPECT_EQ(clock.finish(kernel.now_ns()), std::nullopt);
}

}  // namespace
}  // namespace fathom
