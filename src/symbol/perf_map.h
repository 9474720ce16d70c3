// SPDX-License-Identifier: Apache-2.0
// Names of compiled code from /tmp/perf-PID.map, as JITs (V8, .NET, PyPy, Julia, Java's agents)
// write it: lines of "START SIZE NAME" in hex. The file grows while the process runs: refresh reads
// what is new; where entries overlap the last wins, as code space is used again. The file is in the
// target's hands: bad lines are counted, sizes bounded. Belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "symbol/name_pool.h"
#include "symbol/timed_ranges.h"

namespace fathom {

class PerfMap {
 public:
  struct Counts {
    int64_t entries = 0, bad_lines = 0, refused = 0;  // refused: beyond the bounds below
  };
  static constexpr size_t kMaxEntries = 1 << 20;
  static constexpr size_t kMaxNameBytes = size_t{64} << 20;
  static constexpr size_t kMaxNameLength = 4096;  // longer names are cut

  // The map of a process: below its own root and by its own number first, then on the host. It
  // must belong to the process's user or to root.
  static Result<PerfMap> open(int64_t pid);
  static PerfMap from_file(Fd file);
  PerfMap() = default;

  // Reads what was written since. Starts again if the file was replaced by a shorter one.
  Status refresh();
  // Text in pieces of any size; a line counts when it is complete.
  void feed(std::string_view text);

  // The name of what was last put at this address, cut and as written. A view until the next
  // change.
  [[nodiscard]] std::optional<std::string_view> find(uint64_t address) const;
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] size_t size() const { return ranges_.size(); }

 private:
  void add_line(std::string_view line);
  void start_again();

  Fd file_;
  uint64_t read_bytes_ = 0;
  std::string rest_;       // a line not complete yet
  bool skipping_ = false;  // in a line too long to be kept
  TimedRanges<uint32_t> ranges_{0};
  NamePool names_;
  Counts counts_;
};

}  // namespace fathom
