// SPDX-License-Identifier: Apache-2.0
#include "probe/stacks/node_sums.h"

#include <map>
#include <tuple>

namespace fathom {

void NodeSums::carry_over(const Dictionary& from, Interner& to) {
  std::unordered_map<uint64_t, int64_t> kept;
  kept.swap(sums_);
  for (const auto& [key, sum] : kept) {
    Frame frame = from.frames[key >> 32];
    for (StringId* text : {&frame.symbol, &frame.module, &frame.build_id, &frame.file})
      *text = to.string(from.text(*text));
    add(to.frame(frame), to.string(from.text(static_cast<StringId>(static_cast<uint32_t>(key)))),
        sum);
  }
}

void NodeSums::write() {
  // Frames that differ in more than these (line, build id) are one node.
  std::map<std::tuple<StringId, StringId, StringId>, int64_t> nodes;
  const Dictionary& names = out_.names().dictionary();
  for (const auto& [key, sum] : sums_) {
    const Frame& frame = names.frames[key >> 32];
    nodes[{frame.symbol, frame.module, static_cast<StringId>(static_cast<uint32_t>(key))}] += sum;
  }
  sums_.clear();
  const StringId event = out_.string(event_);
  const StringId unit = out_.string(unit_);
  for (const auto& [node, sum] : nodes) {
    const auto& [symbol, module, program] = node;
    out_.add(NodeSum{symbol, module, program, event, unit, sum});
  }
}

}  // namespace fathom
