// SPDX-License-Identifier: Apache-2.0
// The answers on one screen, worked out once for every format that shows them. Figures that were
// not measured are absent.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/recording.h"
#include "report/sample_coverage.h"
#include "report/share_interval.h"
#include "report/unwind_quality.h"

namespace fathom {

struct ProgramShare {
  std::string name;
  int64_t processes = 0;
  Maybe cpu_ns, peak_rss_bytes;
  double cpu_share = 0;  // of all processes
};

// What the samples of stacks say, where there are any.
struct StackSummary {
  struct HotFunction {
    std::string name, module;  // as recorded
    double self_share = 0, total_share = 0;
    Interval self_interval, total_interval;  // 95 %
    int64_t samples = 0;                     // in itself
  };
  std::string event;
  int64_t samples = 0;
  int64_t effective_samples = 0;         // of equal weight, which the intervals are computed from
  std::vector<uint32_t> rates_hz;        // asked for
  std::string obtained;                  // of them; empty: not known
  double own_share = 0;                  // of Fathom's own code in the target
  std::vector<HotFunction> functions;    // by own share, largest first; not all
  std::optional<UnwindQuality> quality;  // absent: not known
};

// First, last and largest value of a gauge.
struct GaugeRange {
  double first = 0, last = 0, largest = 0;
  int64_t first_ns = 0, last_ns = 0;
  std::string unit;
};

struct Summary {
  std::unique_ptr<Collected> tables;  // runs, probes, processes, events
  std::string damage;                 // what the recording lacks; empty: nothing
  int64_t duration_ns = 0;            // of what is there
  bool is_part = false;               // of the run's time
  std::optional<int64_t> cpu_ns;
  int64_t cpu_elapsed_ns = 0;  // in which it was used; shorter where the last reading is older
  std::vector<ProgramShare> programs;        // by CPU time, largest first
  std::optional<ProgramShare> largest;       // by peak memory, one process
  std::map<std::string, GaugeRange> gauges;  // by "scope name"
  std::optional<StackSummary> stacks;
  std::optional<SampleCoverage> coverage;  // also where there are no samples

  [[nodiscard]] const Run& run() const { return tables->rows.of<Run>().front(); }
  [[nodiscard]] std::string_view text(StringId id) const { return tables->text(id); }
  [[nodiscard]] const GaugeRange* gauge(const std::string& scope_and_name) const;
};

Result<Summary> summarize(const Recording& recording);

}  // namespace fathom
