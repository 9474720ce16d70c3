// SPDX-License-Identifier: Apache-2.0
// What Valgrind's callgrind writes of one process (its format 1): costs per function, of what it
// did itself and of what it called. Treated as hostile: a program may have written it. Pure: any
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fathom {

// Sums that a hostile file makes too large stay at the largest there is.
inline void add_saturated(int64_t& sum, int64_t more) {
  if (__builtin_add_overflow(sum, more, &sum)) sum = INT64_MAX;
}

struct CallgrindFile {
  int64_t pid = 0;
  std::string command;              // as callgrind joins it
  std::vector<std::string> events;  // "Ir", "Dr", …
  std::vector<int64_t> summary;     // Valgrind's own totals, by event
  // By function and object file.
  std::map<std::pair<std::string, std::string>, std::vector<int64_t>> functions;
  // What the calls from there to other functions cost. Where functions call each other in turns,
  // the same cost may be in several calls.
  std::map<std::pair<std::string, std::string>, std::vector<int64_t>> calls;

  // All functions' costs of an event; 0 where it was not simulated.
  [[nodiscard]] int64_t total(std::string_view event) const;
};

Result<CallgrindFile> parse_callgrind(std::string_view text);

}  // namespace fathom
