// SPDX-License-Identifier: Apache-2.0
#include "report/io_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/saturate.h"
#include "base/text.h"
#include "base/text_style.h"
#include "report/io_bandwidth.h"
#include "report/io_functions.h"
#include "report/io_profile.h"
#include "report/io_text.h"
#include "report/label_lines.h"
#include "report/text_table.h"

namespace fathom {
namespace {

constexpr size_t kUsualParts = 10;
constexpr size_t kSilentShown = 5;
constexpr size_t kLeastFunction = 8;

std::string time_share(const IoProfile& profile) {
  const double share = ratio(profile.total.io_ns.value_or(0), profile.duration_ns);
  if (profile.threads.size() < 2) return percent(share) + " of the run";
  // Mean number of threads in a call; of little, two digits.
  const std::string mean = share >= 0.1 || share <= 0 ? fmt::format("{:.2f}", share)
                           : share < 0.0001           ? std::string("<0.0001")
                                                      : fmt::format("{:.2g}", share);
  return fmt::format("{} of {} threads at a time", mean, format_count(profile.threads.size()));
}

// Of some sources only the calls are known.
void add_moved(const IoProfile& profile, LabelLines& lines) {
  const bool sized = std::any_of(
      profile.functions.begin(), profile.functions.end(), [&](const IoFunction& function) {
        return function.layer == profile.layer && function.figures.bytes.has_value();
      });
  const std::string files = plural(static_cast<int64_t>(profile.files.size()), "file", "files");
  if (!sized) {
    lines.add("Moved",
              {"bytes not recorded", profile.files.empty() ? "files not recorded" : files});
    return;
  }
  lines.add("Moved", {format_bytes(profile.total.read_bytes) + " read",
                      format_bytes(profile.total.written_bytes) + " written", files});
}

void add_head(const IoProfile& profile, LabelLines& lines) {
  const IoFigures& total = profile.total;
  std::vector<std::string> time = {"calls were counted, not timed"};
  if (total.io_ns) time = {format_duration_ns(*total.io_ns) + " in calls", time_share(profile)};
  if (total.wait_ns > 0)
    time.push_back(format_duration_ns(total.wait_ns) + " more waiting (" + waited_in(profile) +
                   ")");
  lines.add("I/O", time);
  add_moved(profile, lines);
  std::string failed = "failures not recorded";
  if (total.errors)
    failed = *total.errors == 0 ? "none failed" : count_text(total.errors) + " failed";
  lines.add("Calls", {plural(total.calls, "call", "calls"), failed});
  if (const auto filters = filter_lines(profile); !filters.empty())
    lines.add_prose("Filters", join(filters, kDot), Style::kPlain);
}

// One may have lived too briefly for the probe to see why.
std::string silent_text(const std::vector<std::string>& names) {
  return plural(static_cast<int64_t>(names.size()), "more process", "more processes") +
         " without a recorded call: " +
         first_few(std::set<std::string>(names.begin(), names.end()), kSilentShown);
}

void add_coverage(const IoProfile& profile, LabelLines& lines) {
  std::vector<std::string> parts = {"values of layer " + printable(profile.layer)};
  std::string others;
  for (const std::string_view layer : profile.layers) {
    if (layer != profile.layer) others += (others.empty() ? "" : ", ") + printable(layer);
  }
  if (!others.empty()) parts.push_back("also recorded: " + others);
  const auto processes = static_cast<int64_t>(profile.processes.size());
  const auto threads = static_cast<int64_t>(profile.threads.size());
  if (threads > 0) {
    parts.push_back(plural(processes, "process", "processes") + ", " +
                    plural(threads, "thread", "threads"));
  }
  const int64_t dropped = profile.coverage ? profile.coverage->dropped : 0;
  if (!profile.coverage) {
    parts.emplace_back("losses not known");
  } else {
    parts.push_back(dropped_calls_text(dropped, profile.damage));
  }
  lines.add("Seen", parts, is_lossy(dropped, profile.damage) ? Style::kWarning : Style::kPlain);
  if (!profile.silent.empty()) lines.add_prose("", silent_text(profile.silent), Style::kFaint);
  if (profile.coverage && !profile.coverage->why.empty())
    lines.add_prose("Note", printable(profile.coverage->why), Style::kWarning);
  if (!profile.damage.empty())
    lines.add_prose("Missing", printable(profile.damage), Style::kWarning);
}

std::string files_text(const IoProfile& profile, const ReportOptions& options) {
  if (profile.files.empty()) return "";
  const size_t rows = rows_shown(options, kUsualIoRows, profile.files.size());
  TextTable table({{"file", Side::kLeft, 0, kLeastName},
                   {"opens", Side::kRight, 3},
                   {"reads", Side::kRight, 2},
                   {"read"},
                   {"writes", Side::kRight, 2},
                   {"written"},
                   {"time", Side::kRight, 1}});
  int64_t shown = 0;
  for (size_t i = 0; i < rows; ++i) {
    const IoFigures& file = profile.files[i].figures;
    add_saturating(shown, file.bytes());
    table.add({printable(profile.files[i].name), format_count(file.opens), format_count(file.reads),
               bytes_text(file.read_bytes), format_count(file.writes),
               bytes_text(file.written_bytes), time_text(file.io_ns)});
  }
  table.leave_out_empty({"time"});
  std::string text = heading("Files", " by bytes moved", options) + table.write(options);
  if (rows < profile.files.size()) {
    int64_t all = 0;
    for (const IoFile& file : profile.files) add_saturating(all, file.figures.bytes());
    text += footnote(
        plural(static_cast<int64_t>(profile.files.size() - rows), "more file", "more files") +
            " with " + percent(ratio(all - shown, all)) + " of the bytes; --limit 0 shows all",
        options);
  }
  return text;
}

std::string sites_text(const IoProfile& profile, const ReportOptions& options) {
  if (profile.sites.empty()) return "";
  const size_t rows = rows_shown(options, kUsualParts, profile.sites.size());
  TextTable table({{"call site", Side::kLeft, 0, kLeastName},
                   {"called by", Side::kLeft, 2, kLeastName},
                   {"function", Side::kLeft, 0, kLeastFunction},
                   {"calls"},
                   {"bytes", Side::kRight, 1},
                   {"time"}});
  for (size_t i = 0; i < rows; ++i) {
    const CallSite& site = profile.sites[i];
    table.add({printable(site.place), printable(site.caller), printable(site.name),
               format_count(site.figures.calls), bytes_text(site.figures.bytes.value_or(0)),
               time_text(site.figures.time_ns)});
  }
  std::string text = heading("Call sites", " by time in I/O", options) + table.write(options);
  if (rows < profile.sites.size())
    text += footnote(format_count(profile.sites.size() - rows) +
                         " more; --limit 0 shows all; whole stacks: fathom query RUN call-stacks",
                     options);
  return text;
}

std::string share_text(const Maybe& part_ns, const Maybe& all_ns) {
  return part_ns && all_ns ? percent(ratio(*part_ns, *all_ns)) : "";
}

std::string parts_text(const IoProfile& profile, const ReportOptions& options) {
  const bool by_process = profile.processes.size() > 1;
  const std::vector<IoPart>& parts = by_process ? profile.processes : profile.threads;
  if (parts.size() < 2) return "";
  const size_t rows = rows_shown(options, kUsualParts, parts.size());
  std::vector<TextColumn> columns = {
      {by_process ? "process" : "thread", Side::kLeft, 0, kLeastName},
      {by_process ? "pid" : "tid", Side::kRight, 2},
      {"calls", Side::kRight, 3},
      {"read"},
      {"written"},
      {"time"},
      {"share", Side::kRight, 1}};
  if (by_process) columns.push_back({"threads", Side::kRight, 4});
  TextTable table(columns);
  for (size_t i = 0; i < rows; ++i) {
    const IoPart& part = parts[i];
    std::vector<std::string> cells = {part.name.empty() ? "?" : printable(part.name),
                                      std::to_string(by_process ? part.pid : part.tid),
                                      format_count(part.figures.calls),
                                      bytes_text(part.figures.read_bytes),
                                      bytes_text(part.figures.written_bytes),
                                      time_text(part.figures.io_ns),
                                      share_text(part.figures.io_ns, profile.total.io_ns)};
    if (by_process) cells.push_back(format_count(part.threads));
    table.add(std::move(cells));
  }
  table.leave_out_empty({"time", "share"});
  const char* order = profile.total.io_ns ? " by time in I/O" : " by calls";
  std::string text =
      heading(by_process ? "Processes" : "Threads", order, options) + table.write(options);
  if (rows < parts.size())
    text += footnote(format_count(parts.size() - rows) + " more; --limit 0 shows all", options);
  return text;
}

// What the report was asked to show of the recording; empty: all of it.
std::vector<std::string> chosen_parts(const ProfileFilter& filter) {
  std::vector<std::string> parts;
  if (!filter.process.empty()) parts.push_back("process " + printable(filter.process));
  if (!filter.thread.empty()) parts.push_back("thread " + printable(filter.thread));
  if (filter.from_ns) parts.push_back("from " + moment_text(*filter.from_ns));
  if (filter.to_ns) parts.push_back("until " + moment_text(*filter.to_ns));
  return parts;
}

}  // namespace

Status write_io_report(const Recording& recording, const ReportOptions& options) {
  TRY_ASSIGN(const IoProfile profile, load_io_profile(recording, options.filter));
  const std::string facts =
      std::string(kDot) + (options.filter.from_ns || options.filter.to_ns
                               ? format_duration_ns(profile.duration_ns) + " of the run"
                           : profile.duration_ns > 0
                               ? "run of " + format_duration_ns(profile.duration_ns)
                               : "duration not recorded");
  const size_t room = options.columns - std::min(options.columns, display_width(facts));
  std::string text =
      styled(Style::kHeading, fit(printable(profile.command), room), options.colours) + facts +
      "\n";
  LabelLines lines(options, text);
  lines.add("Only", chosen_parts(options.filter));
  add_head(profile, lines);
  add_coverage(profile, lines);
  for (const std::string_view layer : profile.layers)
    text += functions_text(profile, layer, options);
  text += sites_text(profile, options);
  text += files_text(profile, options);
  text += bandwidth_text(profile, options);
  text += parts_text(profile, options);
  return print_to(options.out, text);
}

}  // namespace fathom
