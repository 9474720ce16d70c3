// SPDX-License-Identifier: Apache-2.0
#include "report/profile.h"

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

Weight own_weight(const Profile& profile) {
  Weight own;
  for (const Function& function : profile.functions)
    if (!function.is_process && function.name == kOwnFrame) own += function.self;
  return own;
}

double Weight::effective() const {  // Kish
  const auto taken = static_cast<double>(samples), sum = static_cast<double>(weight);
  return squares > 0 ? std::min(taken, sum * sum / squares) : taken;
}

}  // namespace fathom
