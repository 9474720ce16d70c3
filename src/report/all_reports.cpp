// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <vector>

#include "base/text.h"
#include "report/callers_report.h"
#include "report/contribution_report.h"
#include "report/csv_report.h"
#include "report/diff_report.h"
#include "report/flamegraph_report.h"
#include "report/folded_report.h"
#include "report/gpu_report.h"
#include "report/html_report.h"
#include "report/io_report.h"
#include "report/json_report.h"
#include "report/markdown_report.h"
#include "report/openmetrics_report.h"
#include "report/pftrace_report.h"
#include "report/pfw_report.h"
#include "report/plot_report.h"
#include "report/rates_report.h"
#include "report/report.h"
#include "report/sizing_report.h"
#include "report/stat_report.h"
#include "report/summary_report.h"
#include "report/tau_report.h"
#include "report/top_report.h"
#include "report/tree_report.h"
#include "report/waap_report.h"

namespace fathom {
namespace {

// What every report about stacks heeds.
#define FATHOM_STACK_FLAGS "event process thread rate from to group-by"
#define FATHOM_DIFF_FLAGS " width amounts contained"

using WriteStacks = Status (*)(ProfileSources sources, const ReportOptions& options);

template <WriteStacks Write>
Status write_one(const Recording& recording, const ReportOptions& options) {
  const ProfileSource source = ProfileSource::of(recording);
  return Write(ProfileSources(&source, 1), options);
}

struct FileInfo {
  const char* extension = nullptr;
  const char* mark = nullptr;
  const char* page = nullptr;
};
template <WriteStacks Write>
constexpr ReportInfo of_stacks(const char* name, const char* summary, const char* flags,
                               FileInfo file = {}) {
  return {name,  summary, write_one<Write>, flags, file.extension, file.mark,
          Write, false,   file.page};
}

// Reports about everything take a recording that is cut to the time asked for.
constexpr ReportInfo of_run(const char* name, const char* summary,
                            Status (*write)(const Recording&, const ReportOptions&),
                            const char* flags = "from to", FileInfo file = {}) {
  return {name, summary, write, flags, file.extension, file.mark, nullptr, true};
}

constexpr std::array kReports = {
    of_run("summary", "one screen for a terminal", write_summary_report),
    of_run("html", "a page on its own: curves, processes and tables, for any browser",
           write_html_report, "from to", {".html", kHtmlMark}),
    of_run("markdown", "the same figures as tables, for a pull request", write_markdown_report),
    of_run("json", "run, probes, processes and summary as one JSON document", write_json_report),
    of_run("csv", "one table as comma-separated values (see --table)", write_csv_report,
           "table from to"),
    of_run("openmetrics", "the last value of every figure, for Prometheus and its like",
           write_openmetrics_report),
    of_stacks<write_flamegraph_report>(
        "flamegraph", "an SVG picture of the stacks, with zoom and search",
        FATHOM_STACK_FLAGS " lines", {".svg", kFlamegraphMark, "flamegraph-html"}),
    of_stacks<write_icicle_report>("icicle", "the same upside down: callers at the top",
                                   FATHOM_STACK_FLAGS " lines",
                                   {".svg", kFlamegraphMark, "icicle-html"}),
    of_stacks<write_flamegraph_page>(
        "flamegraph-html", "the stacks as a page: zoom, search, choices, a table beside them",
        FATHOM_STACK_FLAGS " lines", {".html", kFlamePageMark}),
    of_stacks<write_icicle_page>("icicle-html", "the same page with callers at the top",
                                 FATHOM_STACK_FLAGS " lines", {".html", kFlamePageMark}),
    of_stacks<write_heatmap_page>("heatmap",
                                  "samples over time in cells of 20 ms, to cut a range from",
                                  FATHOM_STACK_FLAGS " lines", {".html", kFlamePageMark}),
    of_stacks<write_folded_report>("folded", "stacks as flame-graph scripts read them",
                                   FATHOM_STACK_FLAGS " lines"),
    of_stacks<write_top_report>("top", "functions by the time in them",
                                FATHOM_STACK_FLAGS " limit lines"),
    of_stacks<write_tree_report>("tree", "the call tree, heavy paths first",
                                 FATHOM_STACK_FLAGS " min-share lines"),
    of_stacks<write_callers_report>("callers",
                                    "who calls one function and what it calls (see --function)",
                                    FATHOM_STACK_FLAGS " function limit"),
    of_stacks<write_diff_report>("diff", "what differs between the first run and the others",
                                 FATHOM_STACK_FLAGS FATHOM_DIFF_FLAGS " limit lines"),
    of_stacks<write_diff_flamegraph>(
        "diff-flamegraph", "the same as an SVG picture: red is more, blue less, grey no difference",
        FATHOM_STACK_FLAGS FATHOM_DIFF_FLAGS " lines", {".svg", kFlamegraphMark, "diff-html"}),
    of_stacks<write_diff_icicle>("diff-icicle", "the same with callers at the top",
                                 FATHOM_STACK_FLAGS FATHOM_DIFF_FLAGS " lines",
                                 {".svg", kFlamegraphMark, "diff-html"}),
    of_stacks<write_diff_page>("diff-html", "the same as a page",
                               FATHOM_STACK_FLAGS FATHOM_DIFF_FLAGS " lines",
                               {".html", kFlamePageMark}),
    of_stacks<write_diff_folded>("diff-folded", "stacks with both counts, for other tools",
                                 FATHOM_STACK_FLAGS " lines contained"),
    of_stacks<write_diff_json>("diff-json", "the table of differences as JSON",
                               FATHOM_STACK_FLAGS FATHOM_DIFF_FLAGS " limit lines"),
    of_stacks<write_contribution_report>("contribution",
                                         "how many of all distinct stacks each configuration has",
                                         "event process thread rate from to"),
    of_stacks<write_contribution_json>("contribution-json", "the same as JSON",
                                       "event process thread rate from to"),
    of_stacks<write_contribution_csv>("contribution-csv", "the same as comma-separated values",
                                      "event process thread rate from to"),
    of_stacks<write_rates_report>("rates",
                                  "functions by share at each sampling rate, where several were",
                                  FATHOM_STACK_FLAGS " limit lines"),
    ReportInfo{"io", "I/O: functions, latencies, files, bandwidth, who did it", write_io_report,
               "process thread from to limit"},
    of_run("gpu", "CUDA: kernels, copies, waits, gaps between launches, memory", write_gpu_report,
           "limit from to"),
    of_run("pfw", "calls as DataCrumbs and DFTracer write them, for Chrome's viewer and Perfetto",
           write_pfw_report, "generation from to", {".pfw", kPfwMark}),
    of_run("pftrace", "calls for Perfetto: nested slices, and bytes per layer over time",
           write_pftrace_report, "from to", {".pftrace", kPftraceMark}),
    of_run("stat", "counted events with rates and ratios, as perf stat has them",
           write_stat_report),
    of_run("sizing", "what it needs: p95 cores, peak memory, I/O; requests, limits, nodes that fit",
           write_sizing_report, "from to nodes"),
    of_run("plot", "one SVG picture: CPU, memory, I/O, GPU, steps and its own metrics over time",
           write_plot_report, "from to", {".svg", kPlotMark}),
    of_run("tau-table", "functions of Python programs by time, as TAU's pprof prints them",
           write_tau_table),
    ReportInfo{"tau", "the same as TAU's files profile.N.C.T, in the folder that -o names",
               write_tau_table, "from to", nullptr, nullptr, nullptr, true, nullptr,
               write_tau_files},
    of_run("output.json", "memory and CPU over time as WaAP's output.json has them",
           write_waap_json),
    of_run("stats.csv", "CPU of each core and memory over time as WaAP's stats.csv has them",
           write_waap_csv),
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

Status print_data_to(std::FILE* out, std::string_view text) {
  if (isatty(fileno(out)) != 0) return print_to(out, printable_lines(text));
  return print_to(out, text);
}

}  // namespace fathom
