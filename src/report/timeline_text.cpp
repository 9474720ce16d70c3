// SPDX-License-Identifier: Apache-2.0
#include "report/timeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/io_text.h"

namespace fathom {

std::string number_text(double value) {
  return std::abs(value) >= 1e4 && std::abs(value) < 1e15
             ? format_count(static_cast<int64_t>(std::llround(value)))
             : fmt::format("{:.4g}", value);
}

std::string figure_text(double value, std::string_view unit) {
  if (unit == "bytes") return format_bytes(value);
  if (unit == "bytes/s") return format_bytes(value) + "/s";
  if (unit == "%") return fmt::format("{:.1f} %", value);
  if (unit == "cores") return fmt::format("{:.2f} cores", value);
  const std::string number = number_text(value);
  return unit.empty() || unit == "count" ? number : number + " " + std::string(unit);
}

ReportTable curves_table(const Timeline& timeline) {
  ReportTable table{"curves", "Over time", "", {}, {}};
  table.columns = {{"Figure", ColumnKind::kName},
                   {"Mean", ColumnKind::kNumber},
                   {"Highest", ColumnKind::kNumber},
                   {"From", ColumnKind::kNumber}};
  for (const Panel& panel : timeline.panels) {
    for (const Curve& curve : panel.curves) {
      if (curve.points.empty()) continue;
      const auto peak = std::max_element(
          curve.points.begin(), curve.points.end(),
          [](const CurvePoint& a, const CurvePoint& b) { return a.most < b.most; });
      table.rows.push_back({panel.from_application ? panel.title : panel.title + ": " + curve.label,
                            figure_text(mean_of(curve.points), panel.unit),
                            figure_text(peak->most, panel.unit), moment_text(peak->from_ns)});
    }
  }
  table.note =
      "Means are weighted by time. Readings hold until the next one and rates are of the time "
      "between two; peaks between readings are only in the totals above.";
  for (const std::string& note : timeline.notes) table.note += " " + note;
  return table;
}

ReportTable marks_table(const Timeline& timeline) {
  constexpr size_t kMostRows = 50;
  ReportTable table{"marks", "Steps and marks", "", {}, {}};
  table.columns = {{"At", ColumnKind::kNumber}, {"What", ColumnKind::kName}};
  for (const TimelineMark& mark : timeline.marks) {
    if (table.rows.size() == kMostRows) {
      table.note = fmt::format("The first {} of {}.", kMostRows, timeline.marks.size());
      break;
    }
    table.rows.push_back({moment_text(mark.time_ns), mark.text});
  }
  return table;
}

}  // namespace fathom
