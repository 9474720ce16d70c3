// SPDX-License-Identifier: Apache-2.0
// How long calls took, as counts: of single calls to one part in 8,192, finer than a figure is
// printed; of histograms by powers of two, where a percentile is no more than a bound. Belongs to
// one thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_index.h"
#include "record/records.h"

namespace fathom {

class LatencyCounts {
 public:
  static constexpr size_t kPowers = 64;

  struct Bound {
    int64_t ns = 0;
    bool exact = false;  // false: it took no longer than that
  };

  void add_call(int64_t duration_ns);
  // Element i of the histogram counts [2^i, 2^(i+1)) ns; `time_ns`: of all of them together.
  void add_histogram(std::span<const int64_t> counts, Maybe time_ns);

  [[nodiscard]] int64_t calls() const { return calls_; }
  // What so many percent of the calls did not exceed; nothing: no call is known.
  [[nodiscard]] std::optional<Bound> percentile(int percent) const;
  [[nodiscard]] std::optional<Bound> longest() const;
  // Calls per power of two.
  [[nodiscard]] std::array<int64_t, kPowers> powers() const;

 private:
  struct Step {
    int64_t ns = 0;  // the least of what it stands for
    int64_t calls = 0;
  };

  std::array<int64_t, kPowers> coarse_{};
  FlatIndex index_;
  std::vector<Step> steps_;
  int64_t calls_ = 0;
  int64_t longest_ns_ = 0;
  bool exact_ = true;
};

}  // namespace fathom
