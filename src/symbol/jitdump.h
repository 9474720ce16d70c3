// SPDX-License-Identifier: Apache-2.0
// Names of compiled code from a jitdump file (jit-PID.dump, specified in the kernel's
// tools/perf/Documentation/jitdump-specification.txt), with times, so that an address used twice
// has the name it had when the sample was taken. The target writes the file: every record is
// checked, and the first that makes no sense ends the reading. Belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/fd.h"
#include "base/result.h"
#include "symbol/name_pool.h"
#include "symbol/timed_ranges.h"

namespace fathom {

class Jitdump {
 public:
  struct Counts {
    int64_t loads = 0, moves = 0, refused = 0;
    bool closed = false, damaged = false;
  };
  static constexpr size_t kMaxEntries = 1 << 20;
  static constexpr size_t kMaxNameBytes = size_t{64} << 20;

  static Result<Jitdump> from_file(Fd file);
  Jitdump() = default;

  // Reads the records completed since.
  Status refresh();
  // For tests and fuzzing: the whole file from its start.
  void feed(std::string_view bytes);

  // Times are those of the file: CLOCK_MONOTONIC as far as its flags say so (arch timestamps are
  // not used, and then every time counts as now).
  [[nodiscard]] std::optional<std::string_view> find(uint64_t address,
                                                     int64_t time_ns = INT64_MAX) const;
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  // How much of `bytes` was used; the rest is a record not complete yet.
  size_t take(std::string_view bytes);
  size_t take_header(std::string_view bytes);
  void take_record(uint32_t kind, int64_t time_ns, std::string_view body);
  void load(int64_t time_ns, std::string_view body);
  void move(int64_t time_ns, std::string_view body);

  Fd file_;
  uint64_t read_bytes_ = 0;
  bool header_read_ = false;
  bool arch_times_ = false;
  int64_t last_time_ns_ = 0;
  TimedRanges<uint32_t> ranges_{size_t{1} << 16};
  NamePool names_;
  Counts counts_;
};

}  // namespace fathom
