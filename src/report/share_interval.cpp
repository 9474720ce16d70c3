// SPDX-License-Identifier: Apache-2.0
#include "report/share_interval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

constexpr double kZ = 1.959964;

// Two digits after the point where the interval is below 10 % or narrower than 1 %.
int digits_of(const Interval& interval) {
  const double most = std::max(std::abs(interval.low), std::abs(interval.high));
  return most < 0.09995 || interval.high - interval.low < 0.01 ? 2 : 1;
}

std::string signed_percent(double value, int digits) {
  return fmt::format("{}{:.{}f}", value < 0 ? "−" : "+", 100 * std::abs(value), digits);
}

// The score interval of a number of samples, as an amount of weight.
Interval amount_interval(const Weight& part, const Weight& all) {
  const double n = all.effective();
  const auto amount = static_cast<double>(part.weight);
  if (n <= 0 || all.weight <= 0) return {amount, amount};
  const double each = static_cast<double>(all.weight) / n, count = amount / each;
  const double center = count + kZ * kZ / 2, half = kZ * std::sqrt(count + kZ * kZ / 4);
  return {each * std::max(0.0, center - half), each * (center + half)};
}

// Joins the intervals of two independent values to that of their difference.
Interval joined(double before, const Interval& of_before, double after, const Interval& of_after,
                double noise) {
  const double delta = after - before;
  return {delta - noise * std::hypot(after - of_after.low, of_before.high - before),
          delta + noise * std::hypot(of_after.high - after, before - of_before.low)};
}

}  // namespace

Interval share_interval(double share, const Weight& all) {
  const double n = all.effective();
  if (n <= 0) return {};
  const double whole = 1 + kZ * kZ / n;
  const double center = (share + kZ * kZ / (2 * n)) / whole;
  const double half = kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n)) / whole;
  // At 0 and 1 the bound is the share itself, but for rounding.
  return {share <= 0 ? 0 : std::max(0.0, center - half),
          share >= 1 ? 1 : std::min(1.0, center + half)};
}

Interval share_difference(double before, const Weight& all_before, double after,
                          const Weight& all_after, double noise) {
  const Interval of = joined(before, share_interval(before, all_before), after,
                             share_interval(after, all_after), noise);
  return {std::max(-1.0, of.low), std::min(1.0, of.high)};
}

Interval amount_difference(const Weight& before, const Weight& all_before, const Weight& after,
                           const Weight& all_after, double noise) {
  return joined(static_cast<double>(before.weight), amount_interval(before, all_before),
                static_cast<double>(after.weight), amount_interval(after, all_after), noise);
}

std::string interval_cell(const Interval& interval) {
  const int digits = digits_of(interval);
  return fmt::format("{:.{}f}–{:.{}f}", 100 * interval.low, digits, 100 * interval.high, digits);
}

std::string interval_text(const Interval& interval) {
  const int digits = digits_of(interval);
  return fmt::format("{:.{}f} to {:.{}f}", 100 * interval.low, digits, 100 * interval.high, digits);
}

std::string signed_interval_text(const Interval& interval) {
  const int digits = digits_of(interval);
  return signed_percent(interval.low, digits) + " to " + signed_percent(interval.high, digits);
}

std::string share_text(double share, const Weight& all) {
  return fmt::format("{:.2f} % ({})", 100 * share, interval_text(share_interval(share, all)));
}

}  // namespace fathom
