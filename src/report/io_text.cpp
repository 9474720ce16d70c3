// SPDX-License-Identifier: Apache-2.0
#include "report/io_text.h"

#include <algorithm>

#include "base/text.h"
#include "base/text_style.h"

namespace fathom {

std::string count_text(const Maybe& count) { return count ? format_count(*count) : ""; }

std::string time_text(const Maybe& ns) { return ns ? format_duration_ns(*ns) : ""; }

std::string bound_text(const std::optional<LatencyCounts::Bound>& bound) {
  if (!bound) return "";
  return (bound->exact ? "" : "≤ ") + format_duration_ns(bound->ns);
}

std::string bytes_text(int64_t bytes) { return bytes == 0 ? "" : format_bytes(bytes); }

std::string rate_text(int64_t bytes, int64_t time_ns) {
  if (time_ns <= 0) return "";
  return format_bytes(static_cast<double>(bytes) / static_cast<double>(time_ns) * 1e9) + "/s";
}

std::string moment_text(int64_t since_start_ns) {
  return since_start_ns == 0 ? "0 s" : format_duration_ns(since_start_ns);
}

size_t rows_shown(const ReportOptions& options, size_t usual, size_t all) {
  const size_t limit = options.limit.value_or(usual);
  return limit == 0 ? all : std::min(limit, all);
}

std::string heading(std::string_view title, std::string_view more, const ReportOptions& options) {
  const size_t room = options.columns - std::min(options.columns, display_width(title));
  return "\n" + styled(Style::kHeading, title, options.colours) +
         styled(Style::kFaint, fit(more, room), options.colours) + "\n";
}

std::string footnote(std::string_view text, const ReportOptions& options) {
  return styled(Style::kFaint, fit("  " + std::string(text), options.columns), options.colours) +
         "\n";
}

}  // namespace fathom
