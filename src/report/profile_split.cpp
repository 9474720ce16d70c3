// SPDX-License-Identifier: Apache-2.0
#include "report/profile_split.h"

namespace fathom {

std::vector<ClassSums> split_profile(const Profile& profile,
                                     std::span<const uint32_t> class_of_group, size_t classes) {
  const CallTree& tree = profile.tree;
  std::vector<ClassSums> sums(classes);
  for (ClassSums& of : sums) {
    of.node_self.resize(tree.nodes.size());
    of.function_self.resize(profile.functions.size());
    of.function_total.resize(profile.functions.size());
  }
  for (const NodeSamples& part : profile.parts) {
    if (profile.groups[part.group].event != profile.event) continue;
    ClassSums& of = sums[class_of_group[part.group]];
    of.node_self[part.node] += part.self;
    of.all += part.self;
  }
  for (ClassSums& of : sums) {
    of.node_total = of.node_self;
    for (size_t i = tree.nodes.size() - 1; i > 0; --i)
      of.node_total[tree.nodes[i].parent] += of.node_total[i];
  }
  visit_calls(tree, profile.functions.size(), [&](uint32_t node, bool first) {
    const uint32_t function = tree.nodes[node].function;
    for (ClassSums& of : sums) {
      of.function_self[function] += of.node_self[node];
      if (first) of.function_total[function] += of.node_total[node];
    }
  });
  return sums;
}

}  // namespace fathom
