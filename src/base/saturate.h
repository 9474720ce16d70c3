// SPDX-License-Identifier: Apache-2.0
// Sums of numbers that come from a file and may be anything: they stop at the largest instead of
// turning negative. Any thread.
#pragma once

#include <cstdint>
#include <optional>

namespace fathom {

inline void add_saturating(int64_t& sum, int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = value < 0 ? INT64_MIN : INT64_MAX;
}

// What is not known adds nothing; a sum of nothing that is known is not known.
inline void add_saturating(std::optional<int64_t>& sum, const std::optional<int64_t>& value) {
  if (!value) return;
  if (!sum) sum = 0;
  add_saturating(*sum, *value);
}

inline int64_t difference_saturating(int64_t from, int64_t value) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(from, value, &difference)) return difference;
  return from < 0 ? INT64_MIN : INT64_MAX;
}

// 0 for what no count can be.
inline int64_t count_or_none(uint64_t value) {
  return value <= INT64_MAX ? static_cast<int64_t>(value) : 0;
}

}  // namespace fathom
