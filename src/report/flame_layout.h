// SPDX-License-Identifier: Apache-2.0
// Which box of a flame graph is where: boxes of one level stand side by side in the order of their
// names, each as wide as its weight, children within their parent. For every picture of stacks.
// Pure functions: any thread.
#pragma once

#include <cstdint>
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

// Boxes of at least `min_weight`, at most `max_levels` high.
FlameLayout lay_out_flames(const CallTree& tree, double min_weight, uint32_t max_levels);

}  // namespace fathom
