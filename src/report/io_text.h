// SPDX-License-Identifier: Apache-2.0
// How the parts of the I/O report word figures and lines. Pure functions: any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "record/latency_counts.h"
#include "report/report.h"

namespace fathom {

constexpr size_t kUsualIoRows = 20;
constexpr size_t kLeastName = 20;  // columns for a function, file or process

// Nothing for what was not measured.
std::string count_text(const Maybe& count);
std::string time_text(const Maybe& ns);
// "≤ 4.1 µs" where only that is known.
std::string bound_text(const std::optional<LatencyCounts::Bound>& bound);
// Nothing for none.
std::string bytes_text(int64_t bytes);
// "1.2 GB/s"; nothing where there is no time.
std::string rate_text(int64_t bytes, int64_t time_ns);
// A moment of the run: "0 s", "1.5 s".
std::string moment_text(int64_t since_start_ns);

// How many of a table's rows --limit lets through.
size_t rows_shown(const ReportOptions& options, size_t usual, size_t all);
// A line above a table, after an empty one, and a line below it; no wider than the terminal.
std::string heading(std::string_view title, std::string_view more, const ReportOptions& options);
std::string footnote(std::string_view text, const ReportOptions& options);

}  // namespace fathom
