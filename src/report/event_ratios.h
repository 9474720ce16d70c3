// SPDX-License-Identifier: Apache-2.0
// What counts mean beside each other: instructions per cycle, misses of loads, rates per second.
// Pure functions: any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {

// Counts by name, of one source; what was not counted is not in it.
using EventCounts = std::map<std::string, int64_t, std::less<>>;

// "1.23 per cycle", "2.31 % of branches"; nothing for an event that has no partner here. Events
// with a modifier (":u") go with partners that have the same.
std::optional<std::string> event_ratio(std::string_view name, const EventCounts& counts);

// "12.3 k/s": three digits, so many in `seconds`.
std::string format_rate(int64_t count, double seconds);

}  // namespace fathom
