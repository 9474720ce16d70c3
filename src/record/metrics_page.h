// SPDX-License-Identifier: Apache-2.0
// The last value of every gauge, and the run's own figures, for those who collect metrics: fed with
// rows in any pieces, written as OpenMetrics. Names are fathom_SCOPE_NAME_UNIT; what stands behind
// the scope's first word is the label `id`, a name that had to be changed the label `name`. Belongs
// to one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/openmetrics.h"
#include "record/batch.h"

namespace fathom {

class MetricsPage {
 public:
  // Applications invent names; beyond these they are counted, not kept.
  static constexpr size_t kMostSeries = 10'000;

  void take(const Rows& rows, const Dictionary& names);

  enum class Times { kShown, kLeftOut };  // a collector has its own
  [[nodiscard]] std::string text(
      Times times, OpenMetricsText::Form form = OpenMetricsText::Form::kOpenMetrics) const;

 private:
  struct Last {
    int64_t time_ns = 0;
    double value = 0;
  };
  void take_run(const Run& run, const Dictionary& names);
  void add_run(OpenMetricsText& text) const;

  std::map<std::tuple<std::string, std::string, std::string>, Last, std::less<>>
      gauges_;  // by scope, name and unit
  int64_t left_out_ = 0;
  std::optional<Run> run_;  // its numbers; the texts follow
  OpenMetricsText::Labels run_labels_;
};

}  // namespace fathom
