// SPDX-License-Identifier: Apache-2.0
#include "report/io_functions.h"

#include <algorithm>

#include "base/text.h"
#include "report/io_text.h"
#include "report/label_lines.h"
#include "report/text_table.h"

namespace fathom {
namespace {

using Functions = std::vector<const IoFunction*>;

std::string functions_table(const Functions& functions, const ReportOptions& options) {
  TextTable table({{"function", Side::kLeft, 0, kLeastName},
                   {"kind", Side::kLeft, 6},
                   {"calls"},
                   {"errors", Side::kRight, 3},
                   {"bytes", Side::kRight, 1},
                   {"mean", Side::kRight, 5},
                   {"time", Side::kRight, 4},
                   {"self"},
                   {"rate", Side::kRight, 2}});
  for (const IoFunction* function : functions) {
    const CallFigures& figures = function->figures;
    const bool moves = is_read(function->io_class) || is_written(function->io_class);
    const int64_t bytes = figures.bytes.value_or(0);
    table.add({printable(function->name), std::string(io_class_name(function->io_class)),
               format_count(figures.calls), count_text(figures.errors),
               figures.bytes ? format_bytes(bytes) : "",
               figures.bytes && figures.calls > 0 ? format_bytes(bytes / figures.calls) : "",
               time_text(figures.time_ns), time_text(figures.self_time_ns),
               moves && bytes > 0 ? rate_text(bytes, figures.time_ns.value_or(0)) : ""});
  }
  table.leave_out_empty({"time", "self", "rate"});
  std::string text = table.write(options);
  if (const auto names = table.left_out(options.columns); !names.empty())
    text += footnote("a wider terminal also shows: " + join(names, ", "), options);
  return text;
}

// A bar per power of two, from the shortest call of all functions to the longest.
struct Powers {
  size_t first = LatencyCounts::kPowers, last = 0;

  void add(const LatencyCounts& latency) {
    const auto powers = latency.powers();
    for (size_t i = 0; i < powers.size(); ++i) {
      if (powers[i] == 0) continue;
      first = std::min(first, i);
      last = std::max(last, i);
    }
  }
  [[nodiscard]] std::string bars_of(const LatencyCounts& latency) const {
    const auto powers = latency.powers();
    return bars({powers.begin() + static_cast<ptrdiff_t>(first),
                 powers.begin() + static_cast<ptrdiff_t>(last) + 1});
  }
  [[nodiscard]] std::string name() const {
    return format_duration_ns(first == 0 ? 0 : int64_t{1} << std::min<size_t>(first, 62)) + " … " +
           format_duration_ns(int64_t{1} << std::min<size_t>(last + 1, 62));
  }
};

std::string latency_table(const Functions& functions, const ReportOptions& options) {
  Powers powers;
  bool bounds = false;
  for (const IoFunction* function : functions) powers.add(*function->latency);
  if (powers.first == LatencyCounts::kPowers) return "";
  const std::string spread = powers.name();
  TextTable table({{"function", Side::kLeft, 0, kLeastName},
                   {"p50"},
                   {"p95", Side::kRight, 2},
                   {"p99", Side::kRight, 1},
                   {"max"},
                   {spread.c_str(), Side::kLeft, 3}});
  for (const IoFunction* function : functions) {
    const LatencyCounts& latency = *function->latency;
    if (latency.calls() == 0) continue;
    bounds |= !latency.longest()->exact;
    table.add({printable(function->name), bound_text(latency.percentile(50)),
               bound_text(latency.percentile(95)), bound_text(latency.percentile(99)),
               bound_text(latency.longest()), powers.bars_of(latency)});
  }
  std::string text = "\n" + table.write(options);
  if (bounds) text += footnote("≤: counted by powers of two; it took no longer", options);
  return text;
}

}  // namespace

std::string functions_text(const IoProfile& profile, std::string_view layer,
                           const ReportOptions& options) {
  Functions functions;
  for (const IoFunction& function : profile.functions) {
    if (function.layer == layer) functions.push_back(&function);
  }
  const size_t rows = rows_shown(options, kUsualIoRows, functions.size());
  const size_t more = functions.size() - rows;
  functions.resize(rows);
  const bool timed =
      std::any_of(functions.begin(), functions.end(),
                  [](const IoFunction* function) { return function->self_ns().has_value(); });
  const std::string_view title = layer_title(layer);
  const bool holds_calls = layer == "c" && profile.layers.size() > 1;
  std::string text =
      heading("Functions",
              " of layer " + printable(layer) + (title.empty() ? "" : ", " + std::string(title)) +
                  (!timed        ? ", by calls"
                   : holds_calls ? ", by self time, system calls included"
                                 : ", by self time"),
              options);
  text += functions_table(functions, options);
  if (more > 0) {
    text += footnote(plural(static_cast<int64_t>(more), "more function", "more functions") +
                         "; --limit 0 shows all",
                     options);
  }
  return text + latency_table(functions, options);
}

}  // namespace fathom
