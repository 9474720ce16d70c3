// SPDX-License-Identifier: Apache-2.0
// How much stack perf should copy: it starts small, grows as soon as samples come out cut, and
// shrinks again when a long time none would have needed more. Plain arithmetic, one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fathom {

class CopySize {
 public:
  // The last is the most the kernel copies: records end at 64 KB.
  static constexpr std::array<uint32_t, 3> kBytes = {8 << 10, 32 << 10, 65528};

  // After each sample: whether it was cut, and how many bytes of stack it needed (copied or not).
  void note(bool cut, uint64_t needed_bytes);
  // The step to use from now on.
  [[nodiscard]] size_t step() const { return step_; }

 private:
  static constexpr int64_t kCutsToGrow = 2;
  static constexpr int64_t kSamplesToShrink = 4000;
  size_t step_ = 0;
  int64_t cuts_ = 0;        // at this step
  int64_t small_ones_ = 0;  // in a row that the step below would have held
};

}  // namespace fathom
