// SPDX-License-Identifier: Apache-2.0
#include "report/stat_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/text_style.h"
#include "base/text_wrap.h"
#include "report/event_cut.h"
#include "report/event_ratios.h"
#include "report/label_lines.h"
#include "report/node_lines.h"

namespace fathom {
namespace {

constexpr size_t kCountColumns = 20;
constexpr size_t kLeastNameColumns = 24;
constexpr size_t kMostNameColumns = 48;
constexpr size_t kNarrowNameColumns = 16;
constexpr size_t kCommentColumns = 32;  // that names leave on a terminal
constexpr std::string_view kSimulated = "valgrind";
constexpr std::string_view kByFunction = "instructions:simulated";

// What the lines need to know of each other.
struct Stat {
  const Collected& tables;
  const ReportOptions& options;
  std::map<std::string, EventCounts, std::less<>> counts;  // by source
  double elapsed_s = 0, cpu_s = 0;                         // 0: not known
  size_t name_columns = kLeastNameColumns;

  [[nodiscard]] std::string_view text(StringId id) const { return tables.text(id); }
  [[nodiscard]] const Run& run() const { return tables.rows.of<Run>().front(); }
  [[nodiscard]] const std::vector<EventCount>& events() const {
    return tables.rows.of<EventCount>();
  }
};

std::string count_text(const Stat& stat, const EventCount& event) {
  if (!event.count) return event.running_ns ? "<not counted>" : "<not supported>";
  if (stat.text(event.unit) != "ns") return format_count(*event.count);
  const int64_t hundredths = *event.count / 10'000;
  return fmt::format("{}.{:02} ms", format_count(hundredths / 100), hundredths % 100);
}

// Simulated figures are no matter of time.
std::string comment_of(const Stat& stat, const EventCount& event) {
  if (!event.count) return std::string(stat.text(event.why));
  const std::string_view source = stat.text(event.source);
  if (const auto ratio = event_ratio(stat.text(event.name), stat.counts.at(std::string(source))))
    return *ratio;
  if (source == kSimulated) return {};
  const bool whole_host = stat.text(stat.run().launcher) == "attach-system";
  if (stat.text(event.unit) == "ns" && whole_host) return "of all CPUs, idle time included";
  if (stat.text(event.unit) == "ns")
    return stat.elapsed_s > 0 ? fmt::format("{:.3f} CPUs used", static_cast<double>(*event.count) /
                                                                    1e9 / stat.elapsed_s)
                              : std::string();
  const double seconds = stat.cpu_s > 0 ? stat.cpu_s : stat.elapsed_s;
  return seconds > 0 ? format_rate(*event.count, seconds) : std::string();
}

// Behind the name where there is room for it all, else part by part below each other.
std::string behind(size_t used, std::string_view mark, const std::vector<std::string>& parts,
                   size_t columns) {
  std::string whole = std::string(mark) + join(parts, "  ");
  if (whole.empty() || used + display_width(whole) <= columns) return whole;
  const size_t indent = used + display_width(mark);
  std::string text(mark);
  for (const std::string& part : parts) {
    if (&part != &parts.front()) text += "\n" + std::string(indent, ' ');
    text += wrap(part, columns, indent, LongWord::kCut);
  }
  return text;
}

std::string line_of(const Stat& stat, const EventCount& event) {
  const bool colours = stat.options.colours;
  const std::string count = fmt::format("{:>{}}", count_text(stat, event), kCountColumns);
  std::string name = fit(printable(stat.text(event.name)), stat.name_columns, Cut::kMiddle);
  name += std::string(stat.name_columns - display_width(name), ' ');
  std::vector<std::string> comments;
  if (std::string comment = printable(comment_of(stat, event)); !comment.empty())
    comments.push_back(std::move(comment));
  if (event.count && event.running_ns.value_or(0) < event.enabled_ns.value_or(0))
    comments.push_back(fmt::format(
        "({:.1f} % of the time, scaled)",
        100.0 * static_cast<double>(*event.running_ns) / static_cast<double>(*event.enabled_ns)));
  std::string line = styled(event.count ? Style::kPlain : Style::kFaint, count, colours) + "  " +
                     styled(event.count ? Style::kName : Style::kFaint, name, colours);
  if (!comments.empty())
    line += "  " + behind(kCountColumns + stat.name_columns + 4, event.count ? "# " : "", comments,
                          stat.options.columns);
  while (line.ends_with(' ')) line.pop_back();
  return line + "\n";
}

void find_times(Stat& stat) {
  const Run& run = stat.run();
  if (run.end_ns) stat.elapsed_s = static_cast<double>(*run.end_ns - run.start_ns) / 1e9;
  if (run.user_ns && run.system_ns)
    stat.cpu_s = static_cast<double>(*run.user_ns + *run.system_ns) / 1e9;
  for (const EventCount& event : stat.events()) {
    if (!event.count) continue;
    stat.counts[std::string(stat.text(event.source))][std::string(stat.text(event.name))] =
        *event.count;
    if (stat.text(event.name) == "task-clock" && *event.count > 0)
      stat.cpu_s = static_cast<double>(*event.count) / 1e9;
  }
}

std::string times_text(const Stat& stat) {
  const Run& run = stat.run();
  std::string text = "\n";
  const auto add = [&text](int64_t time_ns, const char* what) {
    text += fmt::format("{:>{}}  {}\n", format_duration_ns(time_ns), kCountColumns, what);
  };
  if (run.end_ns) add(*run.end_ns - run.start_ns, "elapsed");
  if (run.user_ns) add(*run.user_ns, "user");
  if (run.system_ns) add(*run.system_ns, "system");
  return text;
}

// What concerns several lines, once.
void add_notes(const Stat& stat, LabelLines& lines) {
  bool scaled = false, no_count = false, simulated = false;
  std::vector<std::string> said;
  for (const EventCount& event : stat.events()) {
    simulated = simulated || stat.text(event.source) == kSimulated;
    no_count = no_count || !event.count;
    scaled = scaled || (event.count && event.running_ns.value_or(0) < event.enabled_ns.value_or(0));
    std::string why(stat.text(event.why));
    if (event.count && !why.empty() && std::find(said.begin(), said.end(), why) == said.end())
      said.push_back(std::move(why));
  }
  for (const std::string& why : said) lines.add_prose("Note", printable(why), Style::kFaint);
  if (scaled)
    lines.add_prose("Note",
                    "there were more events than counters: they took turns, and counts are scaled "
                    "up to the whole time",
                    Style::kFaint);
  if (no_count && !simulated)
    lines.add_prose("Note",
                    "fathom run --simulate gives instructions, caches and branches where there is "
                    "no PMU",
                    Style::kFaint);
  for (const ProbeStatus& probe : stat.tables.rows.of<ProbeStatus>())
    if (stat.text(probe.probe) == "simulate" && probe.why != StringId::kNone)
      lines.add_prose("Simulated", printable(stat.text(probe.why)), Style::kWarning);
}

}  // namespace

Status write_stat_report(const Recording& recording, const ReportOptions& options) {
  TRY_ASSIGN(const auto tables, collect(recording, tables_of<Run, ProbeStatus, EventCount>()));
  TRY(cut_event_counts(recording, *tables));
  if (tables->rows.of<Run>().empty() || tables->rows.of<EventCount>().empty())
    return Error{Code::kNotFound, "no events were counted in " + recording.path(),
                 "fathom run --probe counters -- COMMAND counts some"};
  Stat stat{*tables, options, {}};
  find_times(stat);
  const size_t most =
      std::clamp(options.columns, kCountColumns + 4 + kCommentColumns + kNarrowNameColumns,
                 kCountColumns + 4 + kCommentColumns + kMostNameColumns) -
      (kCountColumns + 4 + kCommentColumns);
  stat.name_columns = std::min(kLeastNameColumns, most);
  for (const EventCount& event : stat.events())
    stat.name_columns =
        std::clamp(display_width(printable(stat.text(event.name))), stat.name_columns, most);
  const std::string command = printable(stat.text(tables->rows.of<Run>().front().command));
  std::string text =
      "Counted for " + fit(command, std::max<size_t>(options.columns, 32) - 12) + "\n\n";
  for (const EventCount& event : stat.events()) text += line_of(stat, event);
  std::string functions;
  if (!recording.cut()) {  // else they are of more than the part
    TRY_ASSIGN(functions, node_lines(recording, kByFunction, options));
  }
  if (!functions.empty()) text += fmt::format("\n{} by function\n{}", kByFunction, functions);
  text += times_text(stat);
  std::string notes;
  LabelLines lines(options, notes);
  add_notes(stat, lines);
  if (stat.cpu_s > 0 && stat.counts.contains("perf"))
    lines.add_prose("Rates", "per second of CPU time", Style::kFaint);
  return print_to(options.out, text + (notes.empty() ? "" : "\n") + notes);
}

}  // namespace fathom
