// SPDX-License-Identifier: Apache-2.0
#include "spool/tick_clock.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace fathom {
namespace {

TEST(TickClock, OfASpoolFollowsItsTwoLooks) {
  SpoolHeader header{};
  header.ticks_at_load = 1'000'000;
  header.ns_at_load = 500;
  header.ticks_later = 3'000'000;
  header.ns_later = 1'000'500;
  const TickClock clock = TickClock::of_spool(header);
  EXPECT_EQ(clock.ns_at(2'000'000), 500'500);
  EXPECT_EQ(clock.ns_at(5'000'000), 2'000'500);
  EXPECT_EQ(clock.ns_of(2'000), 1'000);
  EXPECT_EQ(clock.rate(), uint64_t{1} << 33);
}

TEST(TickClock, OfASpoolThatLookedOnceUsesTheRateItWasTold) {
  SpoolHeader header{};
  header.ticks_at_load = header.ticks_later = 100;
  header.ns_at_load = header.ns_later = 7;
  header.ticks_per_ns_32 = uint64_t{1} << 34;
  const TickClock clock = TickClock::of_spool(header);
  EXPECT_EQ(clock.ns_at(500), 107);
}

TEST(TickClock, NonsenseStaysWithinBounds) {
  const TickClock clock = TickClock::of_spool(SpoolHeader{});
  EXPECT_GE(clock.ns_of(UINT64_MAX), 0);
  (void)clock.ns_at(UINT64_MAX / 2);
}

TEST(TickClock, OfThisMachineAgreesWithTheSystemClock) {
  TickClock clock = TickClock::of_this_machine();
  clock.look();
  const int64_t before_ns = monotonic_ns();
#ifdef __x86_64__
  const int64_t ns = clock.ns_at(__builtin_ia32_rdtsc());
#else
  const int64_t ns = clock.ns_at(static_cast<uint64_t>(monotonic_ns()));
#endif
  const int64_t after_ns = monotonic_ns();
  const int64_t tolerated = 20'000;  // of two clocks read one after the other
  EXPECT_GE(ns, before_ns - tolerated);
  EXPECT_LE(ns, after_ns + tolerated);
}

}  // namespace
}  // namespace fathom
