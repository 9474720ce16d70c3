// SPDX-License-Identifier: Apache-2.0
// Writes the gauges of one scope at one moment.
#pragma once

#include <cstdint>
#include <string_view>

#include "sink/record_stream.h"

namespace fathom {

class GaugeWriter {
 public:
  GaugeWriter(RecordStream& out, std::string_view scope, int64_t time_ns)
      : out_(out), scope_(out.string(scope)), time_ns_(time_ns) {}

  template <class Number>
  void put(std::string_view name, std::string_view unit, Number value) {
    out_.add(
        Gauge{time_ns_, scope_, out_.string(name), out_.string(unit), static_cast<double>(value)});
  }
  // Nothing if it was not measured.
  void put(std::string_view name, std::string_view unit, const Maybe& value) {
    if (value) put(name, unit, *value);
  }

 private:
  RecordStream& out_;
  StringId scope_;
  int64_t time_ns_;
};

}  // namespace fathom
