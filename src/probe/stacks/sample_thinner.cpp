// SPDX-License-Identifier: Apache-2.0
#include "probe/stacks/sample_thinner.h"

namespace fathom {

void SampleThinner::on_sample(const RawSample& sample) {
  if (sample.sampler < factors_.size()) return listener_->on_sample(sample);
  RawSample selected = sample;
  selected.sampler -= static_cast<uint32_t>(factors_.size());
  const int64_t factor = factors_[selected.sampler];
  Block& block = blocks_[{sample.cpu, selected.sampler}];
  if (block.seen == 0)
    block.selected = std::uniform_int_distribution<int64_t>(0, factor - 1)(random_);
  const bool is_selected = block.seen == block.selected;
  block.seen = (block.seen + 1) % factor;
  if (!is_selected) return;
  selected.weight *= factor;
  listener_->on_sample(selected);
}

void SampleThinner::on_change(const TaskChange& change) {
  if (change.kind == TaskChange::Kind::kFork) ++started_;
  listener_->on_change(change);
}

}  // namespace fathom
