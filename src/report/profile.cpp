// SPDX-License-Identifier: Apache-2.0
#include "report/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fathom {

std::vector<uint32_t> functions_by_self(const Profile& profile) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < profile.functions.size(); ++i) {
    const Function& function = profile.functions[i];
    if (!function.is_process && function.total.samples > 0) order.push_back(i);
  }
  const auto key = [&](uint32_t i) {
    const Function& function = profile.functions[i];
    return std::tuple(-function.self.weight, -function.total.weight, function.name, function.module,
                      function.kind);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  return order;
}

double Weight::effective() const {  // Kish
  const auto taken = static_cast<double>(samples), sum = static_cast<double>(weight);
  return squares > 0 ? std::min(taken, sum * sum / squares) : taken;
}

double share_half_width(double share, const Weight& all) {
  constexpr double kZ = 1.959964;
  const double n = all.effective();
  if (n <= 0) return 1;
  return kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n)) / (1 + kZ * kZ / n);
}

std::string interval_text(double share, const Weight& all) {
  return half_width_text(share_half_width(share, all));
}

std::string half_width_text(double half_width) { return fmt::format("± {:.2f}", 100 * half_width); }

}  // namespace fathom
