// SPDX-License-Identifier: Apache-2.0
#include "spool/tick_clock.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include <chrono>
#include <cmath>
#include <thread>

#include "base/clock.h"
#include "base/saturate.h"

namespace fathom {
namespace {

constexpr auto kCalibration = std::chrono::milliseconds(2);
// A length beyond this is a mistake of whoever wrote it.
constexpr double kLongestNs = 9e18;

}  // namespace

// Both clocks at one moment: of some tries the one that took least.
TickClock::Pair TickClock::now() {
#ifdef __x86_64__
  Pair best;
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const uint64_t before = __rdtsc();
    const int64_t ns = monotonic_ns();
    const uint64_t took = __rdtsc() - before;
    if (took >= least) continue;
    least = took;
    best = {before + took / 2, ns};
  }
  return best;
#else
  const int64_t ns = monotonic_ns();
  return {static_cast<uint64_t>(ns), ns};
#endif
}

TickClock TickClock::of_this_machine() {
  TickClock clock;
  clock.first_ = now();
  std::this_thread::sleep_for(kCalibration);
  clock.look();
  return clock;
}

TickClock TickClock::of_spool(const SpoolHeader& header) {
  TickClock clock;
  clock.first_ = {header.ticks_at_load, static_cast<int64_t>(header.ns_at_load)};
  clock.last_ = {header.ticks_later, static_cast<int64_t>(header.ns_later)};
  if (header.ticks_later > header.ticks_at_load) {
    clock.set_rate();
  } else if (header.ticks_per_ns_32 > 0) {
    clock.last_ = clock.first_;
    clock.ns_per_tick_ = std::ldexp(1.0, 32) / static_cast<double>(header.ticks_per_ns_32);
  }
  return clock;
}

void TickClock::look() {
  last_ = now();
  set_rate();
}

void TickClock::set_rate() {
  if (last_.ticks > first_.ticks && last_.ns > first_.ns)
    ns_per_tick_ = static_cast<double>(difference_saturating(last_.ns, first_.ns)) /
                   static_cast<double>(last_.ticks - first_.ticks);
}

int64_t TickClock::ns_at(uint64_t ticks) const {
  const auto since = static_cast<int64_t>(ticks - last_.ticks);  // mostly before
  const double ns = static_cast<double>(since) * ns_per_tick_;
  int64_t at_ns = last_.ns;
  if (std::abs(ns) < kLongestNs / 2) add_saturating(at_ns, std::llround(ns));
  return at_ns;
}

int64_t TickClock::ns_of(uint64_t ticks) const {
  const double ns = static_cast<double>(ticks) * ns_per_tick_;
  return ns < kLongestNs ? std::llround(ns) : 0;
}

uint64_t TickClock::rate() const {
  return static_cast<uint64_t>(std::ldexp(1.0, 32) / ns_per_tick_);
}

}  // namespace fathom
