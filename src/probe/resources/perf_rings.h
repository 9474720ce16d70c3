// SPDX-License-Identifier: Apache-2.0
// One ring per CPU that the events of any number of tasks write into. The rings belong to events of
// the calling thread that count nothing, so that other rings can take their place at any time.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <vector>

#include "base/fd.h"
#include "base/perf_event.h"
#include "base/result.h"

namespace fathom {

class PerfRings {
 public:
  // `like` says what the writers' attributes share: their clock.
  static Result<PerfRings> make(const std::vector<int>& cpus, const perf_event_attr& like,
                                size_t ring_bytes, size_t least_bytes);

  // From now on the event writes into the ring of the `at`th CPU, which must be its own.
  [[nodiscard]] Status take(const Fd& event, size_t at) const;

  // Gives every finished record to `take_record`, CPU by CPU.
  template <class Take>
  void drain(Take take_record) {
    for (Ring& ring : rings_) {
      ring.records.begin();
      while (const perf_event_header* header = ring.records.next()) take_record(*header);
      ring.records.end();
    }
  }

  [[nodiscard]] int64_t bytes() const;

 private:
  struct Ring {
    Fd owner;
    PerfRing records;
  };
  std::vector<Ring> rings_;
};

}  // namespace fathom
