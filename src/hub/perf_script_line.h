// SPDX-License-Identifier: Apache-2.0
// One sample as `perf script` prints it on one line. Stateless and thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom {

struct PerfScriptSample {
  std::string_view symbol;   // with its offset, if the line has one
  std::string_view program;  // the base name of the mapped file
  std::string_view event;    // without the colon at its end
  int64_t count = 0;         // the period
};

// "cc1  123 [001] 45.678901:  1000 cycles:u:  7f12 main+0x4 (/usr/bin/cc1)"; the parts of the
// result point into `line`. Returns nullopt if it is not such a line. A command name may contain
// spaces.
std::optional<PerfScriptSample> parse_perf_script_line(std::string_view line);

}  // namespace fathom
