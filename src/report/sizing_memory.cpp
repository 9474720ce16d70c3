// SPDX-License-Identifier: Apache-2.0
#include "report/sizing_memory.h"

#include <algorithm>
#include <limits>

namespace fathom {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

void raise(std::optional<double>& largest, const std::optional<double>& value) {
  if (value) largest = std::max(largest.value_or(0), *value);
}

double inactive_cache(const MemoryReading& reading) {
  return std::max(0.0, reading.usage - reading.working_set);
}

// Memory other than that of processes: tmpfs, the kernel's own, active page cache.
double of_no_process(const MemoryReading& reading) {
  return std::max(0.0, reading.working_set - reading.anonymous.value_or(0));
}

// What all processes that lived in the interval may have had at once.
double largest_of_processes(const std::vector<ProcessPeak>& processes, int64_t from_ns,
                            int64_t to_ns) {
  double sum = 0;
  for (const ProcessPeak& process : processes) {
    if (process.end_ns < from_ns || process.start_ns > to_ns) continue;
    if (!process.bytes) return kUnknown;
    sum += *process.bytes;
  }
  return processes.empty() ? kUnknown : sum;
}

// The kernel's peak between two readings. Absent where it is not known to be of this interval.
std::optional<double> peak_between(const MemoryReading& from, const MemoryReading& to) {
  if (to.interval_peak) return to.interval_peak;
  if (to.peak && to.peak > from.peak) return to.peak;
  return std::nullopt;
}

// Page cache that gave way to other memory, because the limit was reached. Where only that is
// known, and not that it was reached again, the cache may have been removed: processes bound what
// is needed.
double displaced_cache(const MemoryReading& from, const MemoryReading& to) {
  const bool hit = to.limit_hits.value_or(0) > from.limit_hits.value_or(0);
  if (!hit && to.at_limit.value_or(0) == 0 && from.at_limit.value_or(0) == 0) return 0;
  return std::max(0.0, inactive_cache(from) - inactive_cache(to));
}

void add_interval(const MemoryReading& from, const MemoryReading& to,
                  const std::vector<ProcessPeak>& processes, MemoryNeed& need) {
  const std::optional<double> peak = peak_between(from, to);
  if (!peak) return;
  const double displaced = displaced_cache(from, to);
  const double cache = std::max(inactive_cache(from) - displaced, inactive_cache(to));
  const double unseen = std::max(0.0, *peak - std::max(from.usage, to.usage));
  const double seen = std::max(from.working_set, to.working_set);
  need.floor = std::max(need.floor, *peak - cache);
  // What gave way to memory that is still there is in `seen`: all but the cache that remained is
  // the most that there can have been.
  double needed = std::min(*peak, seen + unseen);
  if (displaced > 0) needed = std::max(needed, *peak - cache);
  const double before = std::max(seen, need.needed.value_or(0));
  if (needed <= before) return;
  const double bound = largest_of_processes(processes, from.time_ns, to.time_ns) +
                       std::max(of_no_process(from), of_no_process(to));
  needed = std::min(needed, std::max(seen, bound)) + std::max(from.swap, to.swap);
  if (needed <= need.needed.value_or(0)) return;
  need.between_readings = needed - before;
  need.needed = needed;
}

}  // namespace

MemoryNeed memory_need(const std::vector<MemoryReading>& readings,
                       const std::vector<ProcessPeak>& processes) {
  MemoryNeed need;
  if (readings.empty()) return need;
  need.readings = readings.size();
  need.source = MemorySource::kReadings;
  for (const MemoryReading& reading : readings) {
    raise(need.needed, reading.working_set + reading.swap);
    raise(need.anonymous, reading.anonymous);
    raise(need.shared, reading.shared);
    raise(need.cache, reading.cache);
    raise(need.lifetime_peak, reading.lifetime_peak);
    raise(need.limit_hits, reading.limit_hits);
    if (reading.at_limit.value_or(0) != 0) ++need.readings_at_limit;
    raise(need.peak, reading.peak);
  }
  if (need.peak) need.source = MemorySource::kKernelPeak;
  for (size_t i = 1; i < readings.size(); ++i)
    add_interval(readings[i - 1], readings[i], processes, need);
  if (need.lifetime_peak)
    need.floor = std::max(need.floor, *need.lifetime_peak - inactive_cache(readings.front()));
  return need;
}

}  // namespace fathom
