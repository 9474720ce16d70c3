// SPDX-License-Identifier: Apache-2.0
#include "report/share_interval.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom {
namespace {

constexpr double kZ = 1.959964;

Weight samples(int64_t count) { return {count, count}; }

// A bound is a share from which the observed one is exactly kZ standard deviations away: Wilson's
// definition, checked without his formula.
TEST(ShareInterval, BoundsSolveTheScoreEquation) {
  for (const int64_t n : {1, 7, 35, 177, 100'000}) {
    for (const int64_t found : {int64_t{0}, int64_t{1}, n / 3, n - 1, n}) {
      const double share = static_cast<double>(found) / static_cast<double>(n);
      const Interval of = share_interval(share, samples(n));
      EXPECT_GE(of.low, 0);
      EXPECT_LE(of.high, 1);
      EXPECT_LE(of.low, share);
      EXPECT_GE(of.high, share);
      for (const double bound : {of.low, of.high}) {
        const double off = share - bound;
        EXPECT_NEAR(off * off, kZ * kZ * bound * (1 - bound) / static_cast<double>(n), 1e-12)
            << found << " of " << n;
      }
    }
  }
}

TEST(ShareInterval, FewSamplesLieOnOneSideOfTheirInterval) {
  EXPECT_EQ(share_text(3.0 / 177, samples(177)), "1.69 % (0.58 to 4.86)");
  EXPECT_EQ(share_text(175.0 / 177, samples(177)), "98.87 % (96.0 to 99.7)");
  EXPECT_EQ(interval_cell(share_interval(3.0 / 177, samples(177))), "0.58–4.86");
  EXPECT_EQ(interval_cell(share_interval(0.4, samples(1'000'000))), "39.90–40.10");
  EXPECT_EQ(interval_cell(share_interval(0.5, {})), "0.0–100.0") << "without samples";
}

// Method 10 of Newcombe's paper (Statistics in Medicine 17, 1998), table II.
TEST(ShareInterval, DifferencesAreThoseOfThePaper) {
  const auto check = [](int64_t a, int64_t m, int64_t b, int64_t n, double low, double high) {
    const auto share = [](int64_t part, int64_t all) {
      return static_cast<double>(part) / static_cast<double>(all);
    };
    const Interval of = share_difference(share(b, n), samples(n), share(a, m), samples(m), 1);
    EXPECT_NEAR(of.low, low, 5e-5) << a << "/" << m << " - " << b << "/" << n;
    EXPECT_NEAR(of.high, high, 5e-5) << a << "/" << m << " - " << b << "/" << n;
  };
  check(56, 70, 48, 80, 0.0524, 0.3339);
  check(9, 10, 3, 10, 0.1705, 0.8090);
  check(6, 7, 2, 7, 0.0582, 0.8062);
  check(5, 56, 0, 29, -0.0381, 0.1926);
  check(0, 10, 0, 20, -0.1611, 0.2775);
  check(10, 10, 0, 20, 0.6791, 1.0000);
}

TEST(ShareInterval, RunsThatDifferWidenADifferenceButNotBeyondAllOfIt) {
  const Interval one = share_difference(0.4, samples(100), 0.6, samples(100), 1);
  const Interval two = share_difference(0.4, samples(100), 0.6, samples(100), 2);
  EXPECT_NEAR(two.high - 0.2, 2 * (one.high - 0.2), 1e-12);
  EXPECT_NEAR(0.2 - two.low, 2 * (0.2 - one.low), 1e-12);
  EXPECT_EQ(share_difference(0, samples(3), 1, samples(3), 9).high, 1);
}

// From 0 counts to 9: each bound of either is kZ of its own standard deviations away.
TEST(ShareInterval, AmountsAreCounts) {
  const Weight all{1000, 100};  // 10 of weight for each sample
  const Interval of = amount_difference({0, 0}, all, {90, 9}, all, 1);
  const auto bound = [](double count, double sign) {  // solves (count - x)² = kZ² x
    return count + kZ * kZ / 2 + sign * kZ * std::sqrt(count + kZ * kZ / 4);
  };
  EXPECT_NEAR(of.low, 90 - 10 * std::hypot(9 - bound(9, -1), bound(0, 1)), 1e-6);
  EXPECT_NEAR(of.high, 90 + 10 * (bound(9, 1) - 9), 1e-6);
}

}  // namespace
}  // namespace fathom
