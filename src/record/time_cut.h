// SPDX-License-Identifier: Apache-2.0
// A part of a run's time: what a recording says of it. Sums that were made over the whole run are
// not of the part, and left out. Pure functions: any thread.
#pragma once

#include <cstdint>

#include "record/batch.h"

namespace fathom {

struct TimeCut {
  int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;  // monotonic; from <= time < to

  [[nodiscard]] bool holds(int64_t time_ns) const { return time_ns >= from_ns && time_ns < to_ns; }
};

// Leaves what happened in that time; processes and threads that lived in it, with their figures
// only where they lived in nothing else; the run as if it had been no longer.
void cut_rows(Rows& rows, const TimeCut& cut);

}  // namespace fathom
