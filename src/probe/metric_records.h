// SPDX-License-Identifier: Apache-2.0
// Makes gauges and marks of what applications and programs say. Whoever reads lines says whose they
// are and when they came. Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "probe/metric_reader.h"
#include "sink/record_stream.h"

namespace fathom {

class MetricRecords final : public MetricListener {
 public:
  explicit MetricRecords(RecordStream& out);

  // The recording's time is from here on; times that are said to be before it, or in the future,
  // are not believed: the moment of arrival is taken.
  void begin(int64_t now_ns) { begin_ns_ = now_ns; }
  void source(std::string_view scope, int64_t arrival_ns) {
    scope_ = scope;
    arrival_ns_ = arrival_ns;
  }

  void metric(const Metric& metric) override;
  void mark(std::string_view text, const MetricTime& time) override;
  void lost(int64_t count) override { lost_ += count; }

  [[nodiscard]] int64_t told() const { return told_; }
  [[nodiscard]] int64_t lost() const { return lost_; }
  [[nodiscard]] int64_t wrong_times() const { return wrong_times_; }

 private:
  int64_t time_of(const MetricTime& time);

  RecordStream& out_;
  std::string_view scope_;
  int64_t real_offset_ns_;
  int64_t begin_ns_ = 0, arrival_ns_ = 0;
  int64_t told_ = 0, lost_ = 0, wrong_times_ = 0;
};

}  // namespace fathom
