// SPDX-License-Identifier: Apache-2.0
#include "record/byte_series.h"

#include <algorithm>

#include "base/saturate.h"

namespace fathom {
namespace {

constexpr int64_t kLatestNs = int64_t{1} << 61;  // 73 years
constexpr int64_t kWiden = 10;

// What of the bytes of a length belongs to a part of it.
int64_t share_of(int64_t bytes, int64_t part_ns, int64_t length_ns) {
  if (part_ns >= length_ns) return bytes;
  const long double share = static_cast<long double>(part_ns) / static_cast<long double>(length_ns);
  return static_cast<int64_t>(static_cast<long double>(bytes) * share);
}

}  // namespace

void ByteSeries::add(int64_t from_ns, int64_t to_ns, int64_t bytes) {
  if (bytes <= 0) return;
  from_ns = std::clamp<int64_t>(from_ns, 0, kLatestNs);
  to_ns = std::clamp<int64_t>(to_ns, from_ns + 1, kLatestNs + 1);
  make_room(to_ns - 1);
  const auto first = static_cast<size_t>(from_ns / slot_ns_);
  const auto last = static_cast<size_t>((to_ns - 1) / slot_ns_);
  const int64_t length_ns = to_ns - from_ns;
  const int64_t head =
      share_of(bytes, static_cast<int64_t>(first + 1) * slot_ns_ - from_ns, length_ns);
  add_saturating(slots_[first], head);
  if (first == last) return;
  const int64_t tail = std::min(
      share_of(bytes, to_ns - static_cast<int64_t>(last) * slot_ns_, length_ns), bytes - head);
  add_saturating(slots_[last], tail);
  fill(first + 1, last, bytes - head - tail);
}

// The same to each slot, and what does not divide in a few that stand evenly apart.
void ByteSeries::fill(size_t first, size_t last, int64_t bytes) {
  constexpr int64_t kMostPieces = 128;
  const auto count = static_cast<int64_t>(last - first);
  if (count == 0) {
    add_saturating(slots_[last], bytes);
    return;
  }
  const int64_t each = bytes / count;
  add_saturating(steps_[first], each);
  add_saturating(steps_[last], -each);
  const int64_t rest = bytes % count;
  const int64_t pieces = std::min(rest, kMostPieces);
  for (int64_t i = 0; i < pieces; ++i) {
    const int64_t piece = rest * (i + 1) / pieces - rest * i / pieces;
    add_saturating(slots_[first + static_cast<size_t>((2 * i + 1) * count / (2 * pieces))], piece);
  }
}

void ByteSeries::add(const ByteSeries& other) {
  while (slot_ns_ < other.slot_ns_) widen();
  for (size_t i = 0; i < other.slots_.size(); ++i) {
    const int64_t from_ns = static_cast<int64_t>(i) * other.slot_ns_;
    add(from_ns, from_ns + other.slot_ns_, other.slots_[i]);
  }
}

void ByteSeries::settle() {
  int64_t each = 0;
  for (size_t i = 0; i < slots_.size(); ++i) {
    add_saturating(each, steps_[i]);
    add_saturating(slots_[i], std::max<int64_t>(each, 0));
    steps_[i] = 0;
  }
}

void ByteSeries::make_room(int64_t at_ns) {
  while (static_cast<uint64_t>(at_ns / slot_ns_) >= kMostSlots) widen();
  const auto needed = static_cast<size_t>(at_ns / slot_ns_) + 1;
  if (slots_.size() >= needed) return;
  slots_.resize(needed);
  steps_.resize(needed);
}

void ByteSeries::widen() {
  settle();
  slot_ns_ *= kWiden;
  std::vector<int64_t> wider((slots_.size() + kWiden - 1) / kWiden);
  for (size_t i = 0; i < slots_.size(); ++i) add_saturating(wider[i / kWiden], slots_[i]);
  slots_ = std::move(wider);
  steps_.assign(slots_.size(), 0);
}

std::vector<int64_t> resample(const ByteSeries& series, int64_t part_ns, size_t parts) {
  std::vector<int64_t> sums(parts);
  for (size_t i = 0; i < series.slots().size() && parts > 0; ++i) {
    const int64_t from_ns = static_cast<int64_t>(i) * series.slot_ns();
    const int64_t to_ns = from_ns + series.slot_ns();
    const auto last = std::min(static_cast<size_t>((to_ns - 1) / part_ns), parts - 1);
    int64_t rest = series.slots()[i];
    for (auto part = static_cast<size_t>(from_ns / part_ns); part < last && rest > 0; ++part) {
      const int64_t part_end_ns = static_cast<int64_t>(part + 1) * part_ns;
      const int64_t within_ns = part_end_ns - std::max(part_end_ns - part_ns, from_ns);
      const int64_t bytes = share_of(series.slots()[i], within_ns, series.slot_ns());
      add_saturating(sums[part], bytes);
      rest -= bytes;
    }
    add_saturating(sums[last], rest);
  }
  return sums;
}

}  // namespace fathom
