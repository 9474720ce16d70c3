// SPDX-License-Identifier: Apache-2.0
// Which box of a flame graph is where: boxes of one level stand side by side in the order of their
// names, each as wide as its weight, children within their parent. For every picture of stacks.
// Pure functions: any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "report/profile.h"

namespace fathom {

struct FlameBox {
  uint32_t node = 0;
  uint32_t level = 0;  // 0: the box of everything
  int64_t start = 0;   // in units of weight from the left
};

struct FlameLayout {
  std::vector<FlameBox> boxes;  // a parent comes before its children
  uint32_t levels = 0;
  size_t left_out = 0;  // boxes that would be narrower than allowed, with all above them
};

// What is drawn. A deep recursion in a few samples would make a picture of a hundred screens, so
// boxes high up must be wider.
struct FlameLimits {
  double min_weight = 0;
  uint32_t high_level = UINT32_MAX;  // from here on
  double min_high_weight = 0;
  uint32_t max_levels = UINT32_MAX;
};
// `widths`: of each node; those of its children add up to no more.
FlameLayout lay_out_flames(const CallTree& tree, std::span<const int64_t> widths,
                           const FlameLimits& limits);
// As wide as their weight.
std::vector<int64_t> weights_of(const CallTree& tree);

}  // namespace fathom
