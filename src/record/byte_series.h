// SPDX-License-Identifier: Apache-2.0
// Bytes over time in a bounded number of slots: when the time gets longer, slots get wider. Sums
// stay exact. Belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom {

class ByteSeries {
 public:
  static constexpr size_t kMostSlots = 40'960;

  // Bytes that were moved evenly within [from, to), in nanoseconds since some origin; what was
  // before it counts as of its first moment. Costs the same for any length.
  void add(int64_t from_ns, int64_t to_ns, int64_t bytes);
  void add(const ByteSeries& other);
  // Call it after the last add().
  void settle();

  // A power of ten from a microsecond up, so that round times end where slots do.
  [[nodiscard]] int64_t slot_ns() const { return slot_ns_; }
  [[nodiscard]] const std::vector<int64_t>& slots() const { return slots_; }

 private:
  void make_room(int64_t at_ns);
  void fill(size_t first, size_t last, int64_t bytes);
  void widen();

  int64_t slot_ns_ = 1000;
  std::vector<int64_t> slots_;
  std::vector<int64_t> steps_;  // what each slot has more than the one before, on top of its own
};

// The bytes of so many parts of equal length; what comes later is in the last.
std::vector<int64_t> resample(const ByteSeries& series, int64_t part_ns, size_t parts);

}  // namespace fathom
