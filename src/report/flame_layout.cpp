// SPDX-License-Identifier: Apache-2.0
#include "report/flame_layout.h"

#include <algorithm>

namespace fathom {

FlameLayout lay_out_flames(const CallTree& tree, std::span<const int64_t> widths,
                           const FlameLimits& limits) {
  FlameLayout layout;
  std::vector<FlameBox> todo = {{}};
  while (!todo.empty()) {
    const FlameBox box = todo.back();
    todo.pop_back();
    layout.boxes.push_back(box);
    layout.levels = std::max(layout.levels, box.level + 1);
    if (box.level + 1 >= limits.max_levels) continue;
    const double min_weight =
        box.level + 1 >= limits.high_level ? limits.min_high_weight : limits.min_weight;
    const size_t first = todo.size();
    int64_t start = box.start;
    for (const uint32_t child : tree.children_of(box.node)) {
      const int64_t weight = widths[child];
      if (static_cast<double>(weight) >= min_weight && weight > 0)
        todo.push_back({child, box.level + 1, start});
      start += weight;
    }
    std::reverse(todo.begin() + static_cast<std::ptrdiff_t>(first), todo.end());
  }
  const auto shown = std::count_if(widths.begin(), widths.end(), [](int64_t w) { return w > 0; });
  layout.left_out = static_cast<size_t>(shown) - layout.boxes.size();
  return layout;
}

std::vector<int64_t> weights_of(const CallTree& tree) {
  std::vector<int64_t> widths;
  widths.reserve(tree.nodes.size());
  for (const CallNode& node : tree.nodes) widths.push_back(node.total.weight);
  return widths;
}

}  // namespace fathom
