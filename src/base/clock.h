// SPDX-License-Identifier: Apache-2.0
// Time. Every time in a record is CLOCK_MONOTONIC nanoseconds. Any thread.
#pragma once

#include <time.h>

#include <cstdint>

namespace fathom {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kNsPerMs = 1'000'000;

inline int64_t clock_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec;
}
inline int64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

// What to add to a monotonic time to get that of another clock. Taken between two monotonic reads,
// the closest of a few tries: whoever reads may lose the CPU in between.
inline int64_t offset_ns_of(clockid_t clock) {
  int64_t best_gap = INT64_MAX;
  int64_t offset = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const int64_t before = monotonic_ns();
    const int64_t other = clock_ns(clock);
    const int64_t after = monotonic_ns();
    if (after - before >= best_gap) continue;
    best_gap = after - before;
    offset = other - (before + (after - before) / 2);
  }
  return offset;
}
// To get nanoseconds since 1970.
inline int64_t real_offset_ns() { return offset_ns_of(CLOCK_REALTIME); }

}  // namespace fathom
