// SPDX-License-Identifier: Apache-2.0
// Memory needed, derived from the kernel's counters of a cgroup: its peak, and what the memory was
// used for at each reading. Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace fathom {

// One reading of a cgroup. Absent: this kernel or recording does not have it.
struct MemoryReading {
  int64_t time_ns = 0;
  double usage = 0, working_set = 0, swap = 0;
  std::optional<double> anonymous, shared, cache;
  std::optional<double> peak;           // the largest since the recording began
  std::optional<double> interval_peak;  // the largest since the reading before
  std::optional<double> lifetime_peak;  // the largest before the recording
  std::optional<double> limit_hits, at_limit;
};

// The peak resident set of a process, as the kernel kept it.
struct ProcessPeak {
  int64_t start_ns = 0, end_ns = 0;
  std::optional<double> bytes;
};

enum class MemorySource {
  kNone,
  kKernelPeak,  // readings, and the kernel's peak between them
  kReadings,    // readings only: the kernel's peak is older than the recording
  kProcesses,   // no cgroup: resident sets
};

struct MemoryNeed {
  MemorySource source = MemorySource::kNone;
  std::optional<double> needed;
  // Less is not safe as a limit: the kernel's peak, less page cache that was seen at that time.
  double floor = 0;
  std::optional<double> peak, lifetime_peak, anonymous, shared, cache, limit_hits;
  double between_readings = 0;  // of `needed`: seen by the kernel's peak only
  size_t readings = 0, readings_at_limit = 0;
};

// Memory is needed where the kernel cannot take it back: all that is charged to the cgroup, less
// page cache on the inactive list (the working set), and what is in swap. Usage above two
// neighboring readings is needed as well, as far as processes that lived at the time may have had
// it. `readings` are sorted by time.
MemoryNeed memory_need(const std::vector<MemoryReading>& readings,
                       const std::vector<ProcessPeak>& processes);

}  // namespace fathom
