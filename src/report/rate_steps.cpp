// SPDX-License-Identifier: Apache-2.0
#include "report/rate_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/profile_diff.h"
#include "report/profile_split.h"

namespace fathom {
namespace {

constexpr double kFamilyError = 0.01;      // that any function at all is flagged by chance
constexpr double kFewestExpected = 5;      // samples of each rate, for the test to hold
constexpr double kLeastDifference = 0.01;  // of a share: less would mislead nobody
constexpr size_t kMostNamed = 3;
constexpr size_t kNameColumns = 60;

// How many normal deviations a chi-square value is worth (Wilson and Hilferty).
double deviations_of(double chi_square, double freedom) {
  const double part = 2 / (9 * freedom);
  return (std::cbrt(chi_square / freedom) - (1 - part)) / std::sqrt(part);
}

// Whether rates differ, as a normal deviation; also finds the one that is odd.
double test(FunctionRates& function, const std::vector<ClassSums>& sums) {
  int64_t samples = 0, all = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    samples += function.rates[i].samples;
    all += sums[i].all.samples;
  }
  const double mean = static_cast<double>(samples) / static_cast<double>(all);
  if (mean >= 1) return 0;
  double chi_square = 0, farthest = -1;
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto n = static_cast<double>(sums[i].all.samples);
    if (n * mean < kFewestExpected || n * (1 - mean) < kFewestExpected) return 0;
    const double off = function.rates[i].share - mean;
    chi_square += n * off * off / (mean * (1 - mean));
    if (std::abs(off) > farthest) {
      farthest = std::abs(off);
      function.odd = i;
    }
  }
  return deviations_of(chi_square, static_cast<double>(sums.size() - 1));
}

double difference(const FunctionRates& function) {
  const auto [least, most] =
      std::minmax_element(function.rates.begin(), function.rates.end(),
                          [](const RateShare& a, const RateShare& b) { return a.share < b.share; });
  return most->share - least->share;
}

}  // namespace

std::vector<FunctionRates> rates_of_functions(const Profile& profile) {
  const std::vector<uint32_t>& rates = profile.rates_hz;
  std::vector<uint32_t> rate_of;
  for (const SampleGroup& group : profile.groups) {
    const auto at = std::find(rates.begin(), rates.end(), group.rate_hz);
    rate_of.push_back(static_cast<uint32_t>(at == rates.end() ? 0 : at - rates.begin()));
  }
  const std::vector<ClassSums> sums = split_profile(profile, rate_of, rates.size());
  std::vector<FunctionRates> found;
  std::vector<double> deviations;
  for (uint32_t i = 0; i < profile.functions.size(); ++i) {
    const Function& function = profile.functions[i];
    if (function.is_process || function.total.samples == 0) continue;
    FunctionRates& of = found.emplace_back(FunctionRates{.function = i});
    for (const ClassSums& sum : sums) {
      const int64_t samples = sum.function_total[i].samples;
      of.rates.push_back({samples, sum.all.samples > 0 ? static_cast<double>(samples) /
                                                             static_cast<double>(sum.all.samples)
                                                       : 0});
    }
    deviations.push_back(rates.size() > 1 ? test(of, sums) : 0);
  }
  const double limit =
      normal_tail(kFamilyError / static_cast<double>(std::max<size_t>(1, found.size())));
  for (size_t i = 0; i < found.size(); ++i)
    found[i].in_step = deviations[i] > limit && difference(found[i]) >= kLeastDifference;
  std::stable_sort(found.begin(), found.end(), [&](const FunctionRates& a, const FunctionRates& b) {
    return profile.functions[a.function].total.samples >
           profile.functions[b.function].total.samples;
  });
  return found;
}

std::string in_step_text(const Profile& profile) {
  std::vector<FunctionRates> found = rates_of_functions(profile);
  std::erase_if(found, [](const FunctionRates& function) { return !function.in_step; });
  std::stable_sort(found.begin(), found.end(), [](const FunctionRates& a, const FunctionRates& b) {
    return difference(a) > difference(b);
  });
  std::string text;
  for (size_t i = 0; i < std::min(found.size(), kMostNamed); ++i) {
    std::string shares;
    for (size_t rate = 0; rate < profile.rates_hz.size(); ++rate) {
      shares += fmt::format("{}{:.1f} % at {} Hz", shares.empty() ? "" : ", ",
                            100 * found[i].rates[rate].share, profile.rates_hz[rate]);
    }
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ",
                        fit(printable(profile.functions[found[i].function].name), kNameColumns),
                        shares);
  }
  if (found.size() > kMostNamed)
    text += fmt::format(" and {} more", format_count(found.size() - kMostNamed));
  return text;
}

}  // namespace fathom
