// SPDX-License-Identifier: Apache-2.0
#include "report/io_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "base/saturate.h"
#include "base/text.h"
#include "report/io_text.h"
#include "report/label_lines.h"
#include "report/text_table.h"

namespace fathom {
namespace {

constexpr size_t kBars = 60;
constexpr auto kNumber = ColumnKind::kNumber;
constexpr auto kName = ColumnKind::kName;
constexpr std::array<std::string_view, 6> kTimes = {"Time", "Self", "Self time",
                                                    "p50",  "p99",  "Longest"};

// What a table is sorted by, unless calls were only counted.
const char* order_of(const IoProfile& profile, const char* timed, const char* counted) {
  return profile.total.io_ns ? timed : counted;
}

// Bytes over time as a row of bars, with mean and peak.
std::string curve_text(const ByteSeries& series, int64_t total, const IoProfile& profile) {
  if (total == 0) return "nothing";
  int64_t part_ns = std::max<int64_t>((profile.duration_ns - 1) / int64_t{kBars} + 1, 1);
  if (profile.slice_ns > 0) part_ns = ((part_ns - 1) / profile.slice_ns + 1) * profile.slice_ns;
  part_ns = std::min(part_ns, std::max<int64_t>(profile.duration_ns, 1));
  const auto count = static_cast<size_t>(std::max<int64_t>(profile.duration_ns - 1, 0) / part_ns);
  const std::vector<int64_t> bytes = resample(series, part_ns, count + 1);
  const int64_t peak = *std::max_element(bytes.begin(), bytes.end());
  std::string drawn = bars(bytes);
  while (drawn.ends_with(' ')) drawn.pop_back();
  return fmt::format("{} · {} mean · {} peak · a bar is {}: {}", format_bytes(total),
                     rate_text(total, profile.duration_ns), rate_text(peak, part_ns),
                     format_duration_ns(part_ns), drawn);
}

ReportTable overview_table(const IoProfile& profile) {
  const IoFigures& total = profile.total;
  ReportTable table{"io", "I/O", "", {{"What"}, {"How much", kName}}, {}};
  table.rows.push_back({"In calls", total.io_ns ? format_duration_ns(*total.io_ns) : "not timed"});
  if (total.wait_ns > 0)
    table.rows.push_back(
        {"Waiting (" + waited_in(profile) + ")", format_duration_ns(total.wait_ns)});
  table.rows.push_back({"Read", curve_text(profile.read, total.read_bytes, profile)});
  table.rows.push_back({"Written", curve_text(profile.written, total.written_bytes, profile)});
  std::string calls = format_count(total.calls);
  if (total.errors) calls += ", " + format_count(*total.errors) + " failed";
  table.rows.push_back({"Calls", std::move(calls)});
  if (const auto filters = filter_lines(profile); !filters.empty())
    table.rows.push_back({"Filters", join(filters, "; ")});
  table.rows.push_back({"Files", format_count(profile.files.size())});
  std::string lost = "not known";
  if (profile.coverage) {
    const int64_t dropped = profile.coverage->dropped;
    lost =
        is_lossy(dropped, profile.damage) ? dropped_calls_text(dropped, profile.damage) : "nothing";
  }
  table.rows.push_back({"Lost", std::move(lost)});
  if (profile.coverage && !profile.coverage->why.empty())
    table.rows.push_back({"Not seen", profile.coverage->why});
  if (!profile.damage.empty()) table.rows.push_back({"Missing", profile.damage});
  table.note = fmt::format("Values of layer {}: what passes through several layers counts once.",
                           profile.layer);
  return table;
}

struct LayerSum {
  int64_t calls = 0, read_bytes = 0, written_bytes = 0;
  Maybe errors, self_ns;
};

ReportTable layers_table(const IoProfile& profile) {
  ReportTable table{"io-layers",
                    "I/O by layer",
                    "From the program down to the disk. A layer that moves more than the one "
                    "above it amplifies. Self time of layer c includes its system calls. Read and "
                    "written are what was moved into a layer: pages it writes back do not count "
                    "again.",
                    {},
                    {}};
  table.columns = {{"Layer"},         {"Calls", kNumber},   {"Errors", kNumber},
                   {"Read", kNumber}, {"Written", kNumber}, {"Self time", kNumber}};
  std::map<std::string_view, LayerSum> sums;
  for (const IoFunction& function : profile.functions) {
    LayerSum& sum = sums[function.layer];
    add_saturating(sum.calls, function.figures.calls);
    add_saturating(sum.errors, function.figures.errors);
    add_saturating(sum.self_ns, function.self_ns());
    const int64_t bytes = function.figures.bytes.value_or(0);
    if (is_read(function.io_class)) add_saturating(sum.read_bytes, bytes);
    if (is_written(function.io_class)) add_saturating(sum.written_bytes, bytes);
  }
  for (const std::string_view layer : profile.layers) {
    const LayerSum& sum = sums[layer];
    table.rows.push_back({std::string(layer), format_count(sum.calls), count_text(sum.errors),
                          bytes_text(sum.read_bytes), bytes_text(sum.written_bytes),
                          time_text(sum.self_ns)});
  }
  return table;
}

bool is_timed(const IoFunction& function) {
  return function.latency != nullptr && function.latency->calls() > 0;
}

std::vector<std::string> function_row(const IoFunction& function) {
  const CallFigures& figures = function.figures;
  const int64_t bytes = figures.bytes.value_or(0);
  const bool timed = is_timed(function);
  const auto percentile = [&](int share) {
    return timed ? bound_text(function.latency->percentile(share)) : "";
  };
  return {std::string(function.layer),
          std::string(function.name),
          std::string(io_class_name(function.io_class)),
          format_count(figures.calls),
          count_text(figures.errors),
          figures.bytes ? format_bytes(bytes) : "",
          figures.bytes && figures.calls > 0 ? format_bytes(bytes / figures.calls) : "",
          time_text(figures.time_ns),
          time_text(figures.self_time_ns),
          percentile(50),
          percentile(99),
          timed ? bound_text(function.latency->longest()) : ""};
}

ReportTable functions_table(const IoProfile& profile) {
  ReportTable table{"io-functions", "I/O by function", "", {}, {}};
  table.columns = {{"Layer"},          {"Function", kName}, {"Kind"},
                   {"Calls", kNumber}, {"Errors", kNumber}, {"Bytes", kNumber},
                   {"Mean", kNumber},  {"Time", kNumber},   {"Self", kNumber},
                   {"p50", kNumber},   {"p99", kNumber},    {"Longest", kNumber}};
  size_t shown = 0;
  bool bounds = false;
  std::map<std::string_view, size_t> of_layer;  // so that none hides another
  for (const IoFunction& function : profile.functions) {
    if (++of_layer[function.layer] > kMostTableRows / 2) continue;
    table.rows.push_back(function_row(function));
    bounds |= is_timed(function) && !function.latency->longest()->exact;
    ++shown;
  }
  table.note = shown_note(shown, profile.functions.size(),
                          order_of(profile, "layer, then self time", "layer, then calls"));
  if (bounds) table.note += " ≤: counted by powers of two; it took no longer.";
  return table;
}

ReportTable sites_table(const IoProfile& profile) {
  const size_t shown = std::min(kMostTableRows, profile.sites.size());
  ReportTable table{"io-sites",
                    "I/O by call site",
                    shown_note(shown, profile.sites.size(), "time in calls") +
                        " The innermost function that is not the C library's, and its caller.",
                    {},
                    {}};
  table.columns = {{"Call site", kName}, {"Called by", kName}, {"Function", kName},
                   {"Calls", kNumber},   {"Bytes", kNumber},   {"Time", kNumber}};
  for (const CallSite& site : std::span(profile.sites).first(shown)) {
    table.rows.push_back({site.place, site.caller, site.name, format_count(site.figures.calls),
                          bytes_text(site.figures.bytes.value_or(0)),
                          time_text(site.figures.time_ns)});
  }
  return table;
}

ReportTable files_table(const IoProfile& profile) {
  const size_t shown = std::min(kMostTableRows, profile.files.size());
  ReportTable table{
      "io-files", "I/O by file", shown_note(shown, profile.files.size(), "bytes moved"), {}, {}};
  table.columns = {{"File", kName},     {"Opens", kNumber},   {"Reads", kNumber}, {"Read", kNumber},
                   {"Writes", kNumber}, {"Written", kNumber}, {"Time", kNumber}};
  for (const IoFile& file : std::span(profile.files).first(shown)) {
    const IoFigures& figures = file.figures;
    table.rows.push_back({std::string(file.name), format_count(figures.opens),
                          format_count(figures.reads), bytes_text(figures.read_bytes),
                          format_count(figures.writes), bytes_text(figures.written_bytes),
                          time_text(figures.io_ns)});
  }
  return table;
}

ReportTable processes_table(const IoProfile& profile) {
  const size_t shown = std::min(kMostTableRows, profile.processes.size());
  ReportTable table{
      "io-processes",
      "I/O by process",
      shown_note(shown, profile.processes.size(), order_of(profile, "time in calls", "calls")),
      {},
      {}};
  if (profile.processes.size() < 2) return table;
  table.columns = {{"Process", kName}, {"Pid", kNumber},     {"Calls", kNumber},
                   {"Read", kNumber},  {"Written", kNumber}, {"Time", kNumber}};
  for (const IoPart& part : std::span(profile.processes).first(shown)) {
    table.rows.push_back({part.name.empty() ? "?" : part.name, std::to_string(part.pid),
                          format_count(part.figures.calls), bytes_text(part.figures.read_bytes),
                          bytes_text(part.figures.written_bytes), time_text(part.figures.io_ns)});
  }
  return table;
}

}  // namespace

std::vector<ReportTable> io_tables(const IoProfile& profile) {
  std::vector<ReportTable> tables = {overview_table(profile),  layers_table(profile),
                                     functions_table(profile), sites_table(profile),
                                     files_table(profile),     processes_table(profile)};
  std::erase_if(tables, [](const ReportTable& table) { return table.rows.empty(); });
  for (ReportTable& table : tables)
    leave_out_empty(table.columns, table.rows, [](const ReportColumn& column) {
      return std::ranges::find(kTimes, column.title) != kTimes.end();
    });
  return tables;
}

}  // namespace fathom
