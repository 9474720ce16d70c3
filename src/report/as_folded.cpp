// SPDX-License-Identifier: Apache-2.0
#include "report/as_folded.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "import/folded_line.h"
#include "report/frame_name.h"
#include "report/sample_owners.h"

namespace fathom {
namespace {

class Folder {
 public:
  Folder(const SampleSums& from, SampleSums& to) : from_(from), to_(to) {
    frames_.reserve(from.names().frames.size());
    for (const Frame& frame : from.names().frames) {
      const bool kept = !folded_suffix(frame.kind).empty();
      frames_.push_back(named(frame_name(frame, from.names()), kept ? frame.kind : kPlain));
    }
  }

  uint32_t stack_of(const SampleSum& sum, const SampleOwners& owners) {
    uint32_t root = 0;
    if (sum.thread != ThreadId::kNone) {
      const ThreadKey& thread = from_.names().threads[index_of(sum.thread)];
      root = to_.stack(0, named(owners.process(thread.pid, sum.time_ns), kPlain));
    }
    if (sum.stack == 0) return to_.stack(root, named("[no stack]", kPlain));
    return below(root, sum.stack);
  }

 private:
  static constexpr FrameKind kPlain = FoldedFrame{}.kind;

  FrameId named(std::string name, FrameKind kind) {
    name = printable(name);
    std::replace(name.begin(), name.end(), ';', ':');
    return to_.frame({.symbol = to_.interner().string(name), .kind = kind});
  }

  uint32_t below(uint32_t root, uint32_t stack) {
    std::vector<uint32_t> missing;
    uint32_t at = root;
    for (; stack != 0; stack = from_.stacks()[stack].parent) {
      const auto known = known_.find({root, stack});
      if (known != known_.end()) {
        at = known->second;
        break;
      }
      missing.push_back(stack);
    }
    for (auto next = missing.rbegin(); next != missing.rend(); ++next) {
      at = to_.stack(at, frames_[index_of(from_.stacks()[*next].frame)]);
      known_[{root, *next}] = at;
    }
    return at;
  }

  const SampleSums& from_;
  SampleSums& to_;
  std::vector<FrameId> frames_;  // by those there
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> known_;
};

}  // namespace

std::unique_ptr<SampleSums> as_folded(const SampleSums& sums, const SourceTables& tables,
                                      const SampleFilter& passes) {
  auto folded = std::make_unique<SampleSums>();
  const StringId event = folded->interner().string(passes.event());
  Folder folder(sums, *folded);
  for (size_t source = 0; source < tables.size(); ++source) {
    if (source > 0) folded->next_source();
    const SampleOwners owners(*tables[source]);
    for (const SampleSum& sum : sums.sums_of(source)) {
      if (!passes.is_main(sum) || !passes.passes(sum, source)) continue;
      const int64_t samples = passes.is_folded(sum) ? sum.weight : sum.samples;
      folded->add_sum({.stack = folder.stack_of(sum, owners),
                       .event = event,
                       .unwind = folded->interner().string(sums.text(sum.unwind)),
                       .weight = samples,
                       .samples = samples,
                       .squares = static_cast<double>(samples)},
                      false);
    }
  }
  return folded;
}

}  // namespace fathom
