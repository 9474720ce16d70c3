// SPDX-License-Identifier: Apache-2.0
#include "probe/metric_records.h"

#include <cmath>

#include "base/clock.h"

namespace fathom {
namespace {

constexpr int64_t kSlackNs = kNsPerSecond;  // clocks of other machines, values made just before

}  // namespace

MetricRecords::MetricRecords(RecordStream& out)
    : out_(out), real_offset_ns_(real_offset_ns()), begin_ns_(monotonic_ns()) {}

int64_t MetricRecords::time_of(const MetricTime& time) {
  int64_t time_ns = arrival_ns_;
  if (time.monotonic_ns) {
    time_ns = *time.monotonic_ns;
  } else if (time.real_s) {
    const double real_ns = *time.real_s * 1e9;
    if (!(std::abs(real_ns) < 4e18)) {
      ++wrong_times_;
      return arrival_ns_;
    }
    time_ns = static_cast<int64_t>(real_ns) - real_offset_ns_;
  }
  if (time_ns >= begin_ns_ - kSlackNs && time_ns <= arrival_ns_ + kSlackNs) return time_ns;
  ++wrong_times_;
  return arrival_ns_;
}

void MetricRecords::metric(const Metric& metric) {
  ++told_;
  out_.add(Gauge{time_of(metric.time), out_.string(scope_), out_.string(metric.name),
                 out_.string(metric.unit), metric.value});
}

void MetricRecords::mark(std::string_view text, const MetricTime& time) {
  ++told_;
  out_.add(Mark{time_of(time), out_.string(text)});
}

}  // namespace fathom
