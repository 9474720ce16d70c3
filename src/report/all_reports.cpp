// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <vector>

#include "base/text.h"
#include "report/callers_report.h"
#include "report/csv_report.h"
#include "report/flamegraph_report.h"
#include "report/folded_report.h"
#include "report/html_report.h"
#include "report/io_report.h"
#include "report/json_report.h"
#include "report/markdown_report.h"
#include "report/openmetrics_report.h"
#include "report/pftrace_report.h"
#include "report/pfw_report.h"
#include "report/report.h"
#include "report/stat_report.h"
#include "report/summary_report.h"
#include "report/top_report.h"
#include "report/tree_report.h"

namespace fathom {
namespace {

// What every report about stacks heeds.
#define FATHOM_STACK_FLAGS "event process thread from to"

constexpr std::array kReports = {
    ReportInfo{"summary", "one screen for a terminal", write_summary_report},
    ReportInfo{"html", "a page on its own: curves, processes and tables, for any browser",
               write_html_report, "", ".html", kHtmlMark},
    ReportInfo{"markdown", "the same figures as tables, for a pull request", write_markdown_report},
    ReportInfo{"json", "run, probes, processes and summary as one JSON document",
               write_json_report},
    ReportInfo{"csv", "one table as comma-separated values (see --table)", write_csv_report,
               "table"},
    ReportInfo{"openmetrics", "the last value of every figure, for Prometheus and its like",
               write_openmetrics_report},
    ReportInfo{"flamegraph", "an SVG picture of the stacks, with zoom and search",
               write_flamegraph_report, FATHOM_STACK_FLAGS " lines", ".svg", kFlamegraphMark},
    ReportInfo{"folded", "stacks as flame-graph scripts read them", write_folded_report,
               FATHOM_STACK_FLAGS " lines"},
    ReportInfo{"top", "functions by the time in them", write_top_report,
               FATHOM_STACK_FLAGS " limit lines"},
    ReportInfo{"tree", "the call tree, heavy paths first", write_tree_report,
               FATHOM_STACK_FLAGS " min-share lines"},
    ReportInfo{"callers", "who calls one function and what it calls (see --function)",
               write_callers_report, FATHOM_STACK_FLAGS " function limit"},
    ReportInfo{"io", "I/O: functions, latencies, files, bandwidth, who did it", write_io_report,
               "process thread from to limit"},
    ReportInfo{"pfw",
               "calls as DataCrumbs and DFTracer write them, for Chrome's viewer and Perfetto",
               write_pfw_report, "generation", ".pfw", kPfwMark},
    ReportInfo{"pftrace", "calls for Perfetto: nested slices, and bytes per layer over time",
               write_pftrace_report, "", ".pftrace", kPftraceMark},
    ReportInfo{"stat", "counted events with rates and ratios, as perf stat has them",
               write_stat_report},
};

}  // namespace

std::span<const ReportInfo> all_reports() { return kReports; }

Result<const ReportInfo*> find_report(std::string_view name) {
  std::vector<std::string_view> names;
  std::string known;
  for (const ReportInfo& report : kReports) {
    if (name == report.name) return &report;
    names.emplace_back(report.name);
    known += (known.empty() ? "" : ", ") + std::string(report.name);
  }
  Error error{Code::kInvalid, "no report format is named " + std::string(name),
              "known are: " + known};
  if (const auto near = closest_match(name, names))
    error.hint = "did you mean " + std::string(*near) + "?";
  return error;
}

Status print_to(std::FILE* out, std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), out) != text.size())
    return errno_error("write the report");
  return {};
}

}  // namespace fathom
