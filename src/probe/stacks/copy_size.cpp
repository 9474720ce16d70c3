// SPDX-License-Identifier: Apache-2.0
#include "probe/stacks/copy_size.h"

namespace fathom {

void CopySize::note(bool cut, uint64_t needed_bytes) {
  const bool could_shrink = step_ > 0 && !cut && needed_bytes <= kBytes[step_ - 1];
  small_ones_ = could_shrink ? small_ones_ + 1 : 0;
  // One that was taken at a smaller step says nothing about this one.
  const bool too_short = cut && needed_bytes > kBytes[step_];
  if (too_short && step_ + 1 < kBytes.size() && ++cuts_ >= kCutsToGrow) {
    ++step_;
    // Not by one: a stack of 60 KB would only be cut again.
    while (step_ + 1 < kBytes.size() && needed_bytes > kBytes[step_]) ++step_;
    cuts_ = 0;
  }
  if (small_ones_ >= kSamplesToShrink) {
    --step_;
    small_ones_ = cuts_ = 0;
  }
}

}  // namespace fathom
