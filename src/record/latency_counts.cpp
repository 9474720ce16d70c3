// SPDX-License-Identifier: Apache-2.0
#include "record/latency_counts.h"

#include <algorithm>
#include <bit>

#include "base/saturate.h"

namespace fathom {
namespace {

constexpr int kKeptBits = 13;

size_t power_of(int64_t ns) {
  return ns < 2 ? 0 : static_cast<size_t>(std::bit_width(static_cast<uint64_t>(ns))) - 1;
}

// The last value of a power of two: 2^(i+1) - 1.
int64_t last_of(size_t power) { return power >= 62 ? INT64_MAX : (int64_t{2} << power) - 1; }

}  // namespace

void LatencyCounts::add_call(int64_t duration_ns) {
  const int64_t ns = std::max<int64_t>(duration_ns, 0);
  const auto width = static_cast<int>(std::bit_width(static_cast<uint64_t>(ns)));
  const int dropped = std::max(width - kKeptBits, 0);
  const int64_t step_ns = ns >> dropped << dropped;
  const auto [number, added] =
      index_.insert(static_cast<uint64_t>(step_ns) + 1, static_cast<uint32_t>(steps_.size()));
  if (added) steps_.push_back({step_ns, 0});
  ++steps_[number].calls;
  ++calls_;
  longest_ns_ = std::max(longest_ns_, ns);
}

void LatencyCounts::add_histogram(std::span<const int64_t> counts, Maybe time_ns) {
  int64_t calls = 0;
  size_t top = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] <= 0) continue;
    top = std::min(i, kPowers - 1);
    add_saturating(coarse_[top], counts[i]);
    add_saturating(calls, counts[i]);
  }
  if (calls == 0) return;
  add_saturating(calls_, calls);
  exact_ = false;
  longest_ns_ = std::max(longest_ns_, std::min(last_of(top), time_ns.value_or(INT64_MAX)));
}

std::optional<LatencyCounts::Bound> LatencyCounts::percentile(int percent) const {
  if (calls_ == 0) return std::nullopt;
  std::vector<Step> steps = steps_;
  for (size_t i = 0; i < kPowers; ++i) {
    if (coarse_[i] > 0) steps.push_back({last_of(i), coarse_[i]});
  }
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.ns < b.ns; });
  const int64_t rank = calls_ / 100 * percent + (calls_ % 100 * percent + 99) / 100;
  int64_t seen = 0;
  for (const Step& step : steps) {
    add_saturating(seen, step.calls);
    if (seen >= rank) return Bound{std::min(step.ns, longest_ns_), exact_};
  }
  return longest();
}

std::optional<LatencyCounts::Bound> LatencyCounts::longest() const {
  if (calls_ == 0) return std::nullopt;
  return Bound{longest_ns_, exact_};
}

std::array<int64_t, LatencyCounts::kPowers> LatencyCounts::powers() const {
  std::array<int64_t, kPowers> powers = coarse_;
  for (const Step& step : steps_) add_saturating(powers[power_of(step.ns)], step.calls);
  return powers;
}

}  // namespace fathom
