// SPDX-License-Identifier: Apache-2.0
// From the ticks of a spool to CLOCK_MONOTONIC. Where ticks are the time stamp counter's and the
// target runs on this machine, the recorder looks at both clocks itself, now and then; for a spool
// found later there is what the target wrote down. Belongs to one thread.
#pragma once

#include <cstdint>

#include "wire/spool.h"

namespace fathom {

class TickClock {
 public:
  // Of this machine's time stamp counter. Takes two milliseconds.
  static TickClock of_this_machine();
  // As the spool has it; nanoseconds if it says so.
  static TickClock of_spool(const SpoolHeader& header);

  // Looks at both clocks, so that what is converted next is right although one of them is steered.
  void look();
  [[nodiscard]] int64_t ns_at(uint64_t ticks) const;
  [[nodiscard]] int64_t ns_of(uint64_t ticks) const;  // a length
  // Ticks in 2^32 ns.
  [[nodiscard]] uint64_t rate() const;

 private:
  struct Pair {
    uint64_t ticks = 0;
    int64_t ns = 0;
  };
  static Pair now();
  void set_rate();

  Pair first_, last_;
  double ns_per_tick_ = 1;
};

}  // namespace fathom
