// SPDX-License-Identifier: Apache-2.0
#include "probe/stacks/node_sums.h"

#include <map>
#include <tuple>
#include <utility>

namespace fathom {

void NodeSums::carry_over(const Dictionary& from, Interner& to) {
  const std::vector<Sum> kept = std::exchange(sums_, {});
  index_ = FlatIndex();
  for (const Sum& sum : kept) {
    Frame frame = from.frames[index_of(sum.function)];
    for (StringId* text : {&frame.symbol, &frame.module, &frame.build_id, &frame.file})
      *text = to.string(from.text(*text));
    add(to.frame(frame), to.string(from.text(sum.program)), sum.weight);
  }
}

void NodeSums::write() {
  // Frames that differ in more than these (line, build id) are one node.
  std::map<std::tuple<StringId, StringId, StringId>, int64_t> nodes;
  const Dictionary& names = out_.names().dictionary();
  for (const Sum& sum : sums_) {
    const Frame& frame = names.frames[index_of(sum.function)];
    nodes[{frame.symbol, frame.module, sum.program}] += sum.weight;
  }
  sums_.clear();
  index_ = FlatIndex();
  const StringId event = out_.string(event_);
  const StringId unit = out_.string(unit_);
  for (const auto& [node, sum] : nodes) {
    const auto& [symbol, module, program] = node;
    out_.add(NodeSum{symbol, module, program, event, unit, sum});
  }
}

}  // namespace fathom
