// SPDX-License-Identifier: Apache-2.0
#include "report/run_tables.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "base/clock.h"
#include "base/text.h"
#include "report/call_totals.h"
#include "report/io_profile.h"
#include "report/io_tables.h"
#include "report/io_text.h"
#include "report/profile.h"
#include "report/profile_text.h"
#include "report/step_rows.h"

namespace fathom {
namespace {

constexpr size_t kCommandColumns = 130;
constexpr auto kNumber = ColumnKind::kNumber;
constexpr auto kName = ColumnKind::kName;

std::string bytes_cell(const Maybe& bytes) { return bytes ? format_bytes(*bytes) : ""; }
std::string percent_cell(double share) { return fmt::format("{:.1f} %", 100 * share); }

ReportTable programs_table(const Summary& summary) {
  ReportTable table{"programs", "Programs", "", {}, {}};
  table.columns = {{"Program", kName},
                   {"Processes", kNumber},
                   {"CPU", kNumber},
                   {"Share", kNumber},
                   {"Peak of one", kNumber}};
  const size_t shown = std::min(kMostTableRows, summary.programs.size());
  for (const ProgramShare& program : std::span(summary.programs).first(shown)) {
    table.rows.push_back({program.name, format_count(program.processes), time_text(program.cpu_ns),
                          program.cpu_ns ? percent_cell(program.cpu_share) : "",
                          bytes_cell(program.peak_rss_bytes)});
  }
  table.note = shown_note(shown, summary.programs.size(), "CPU time");
  return table;
}

std::string ending_cell(const Process& process) {
  if (process.exit_signal) return fmt::format("signal {}", *process.exit_signal);
  if (process.exit_status) return fmt::format("{}", *process.exit_status);
  return process.end_ns ? "" : "runs";
}

ReportTable processes_table(const Summary& summary) {
  const auto& processes = summary.tables->rows.of<Process>();
  std::vector<size_t> order(processes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return processes[a].cpu_ns > processes[b].cpu_ns; });
  const size_t shown = std::min(kMostTableRows, order.size());
  ReportTable table{"processes", "Processes", shown_note(shown, order.size(), "CPU time"), {}, {}};
  table.columns = {{"Process", kName},     {"Pid", kNumber},     {"CPU", kNumber},
                   {"User", kNumber},      {"System", kNumber},  {"Waited for a core", kNumber},
                   {"From", kNumber},      {"For", kNumber},     {"Peak memory", kNumber},
                   {"Disk read", kNumber}, {"Written", kNumber}, {"Exit", kNumber},
                   {"Command", kName}};
  for (const size_t i : std::span(order).first(shown)) {
    const Process& row = processes[i];
    Maybe length_ns;
    if (row.end_ns) length_ns = *row.end_ns - row.start_ns;
    const int64_t from_ns = std::max<int64_t>(0, row.start_ns - summary.run().start_ns);
    table.rows.push_back({std::string(summary.text(row.name)), std::to_string(row.pid),
                          time_text(row.cpu_ns), time_text(row.user_ns), time_text(row.system_ns),
                          time_text(row.wait_ns), moment_text(from_ns), time_text(length_ns),
                          bytes_cell(row.peak_rss_bytes), bytes_cell(row.disk_read_bytes),
                          bytes_cell(row.disk_written_bytes), ending_cell(row),
                          fit(printable(summary.text(row.args)), kCommandColumns)});
  }
  return table;
}

ReportTable functions_table(const StackSummary& stacks) {
  ReportTable table{"functions", "Functions", "", {}, {}};
  table.columns = {{"Self", kNumber},         {"95 % interval", kNumber},
                   {"With callees", kNumber}, {"95 % interval", kNumber},
                   {"Samples", kNumber},      {"Function", kName},
                   {"Module", kName}};
  for (const StackSummary::HotFunction& function : stacks.functions) {
    table.rows.push_back({fmt::format("{:.2f} %", 100 * function.self_share),
                          interval_cell(function.self_interval),
                          fmt::format("{:.2f} %", 100 * function.total_share),
                          interval_cell(function.total_interval), format_count(function.samples),
                          function.name, std::string(module_name(function.module))});
  }
  table.note = fmt::format("{} samples of {}", format_count(stacks.samples), stacks.event);
  if (stacks.quality) table.note += "; stacks: " + quality_text(*stacks.quality);
  table.note += ". By own time, the first ones.";
  return table;
}

ReportTable calls_table(const std::vector<CallTotal>& totals, bool files) {
  const size_t shown = std::min(kMostTableRows, totals.size());
  ReportTable table{files ? "files" : "calls",
                    files ? "Files" : "Calls",
                    shown_note(shown, totals.size(), files ? "bytes" : "time"),
                    {},
                    {}};
  table.columns = {{"Layer"},          {files ? "File" : "Function", kName},
                   {"Calls", kNumber}, {"Bytes", kNumber},
                   {"Time", kNumber},  {"Per call", kNumber},
                   {"Errors", kNumber}};
  for (const CallTotal& total : std::span(totals).first(shown)) {
    Maybe mean_ns;
    if (total.figures.time_ns && total.figures.calls > 0)
      mean_ns = *total.figures.time_ns / total.figures.calls;
    table.rows.push_back({total.layer, total.name, format_count(total.figures.calls),
                          bytes_cell(total.figures.bytes), time_text(total.figures.time_ns),
                          time_text(mean_ns), count_text(total.figures.errors)});
  }
  return table;
}

ReportTable events_table(const Summary& summary) {
  ReportTable table{"counters", "Counters", "", {}, {}};
  table.columns = {{"Event", kName}, {"Count", kNumber}, {"By"}, {"Missing, and why", kName}};
  for (const EventCount& event : summary.tables->rows.of<EventCount>()) {
    const auto text = [&](StringId id) { return std::string(summary.text(id)); };
    table.rows.push_back(
        {text(event.name),
         summary.text(event.unit) == "ns" ? time_text(event.count) : count_text(event.count),
         text(event.source), text(event.why)});
  }
  return table;
}

ReportTable probes_table(const Summary& summary) {
  ReportTable table{"probes", "What was lost, and what recording cost", "", {}, {}};
  table.columns = {{"Probe"},           {"How", kName},
                   {"Seen", kNumber},   {"Dropped", kNumber},
                   {"CPU", kNumber},    {"Kernel memory", kNumber},
                   {"Settings", kName}, {"Missing, and why", kName}};
  for (const ProbeStatus& probe : summary.tables->rows.of<ProbeStatus>()) {
    const auto text = [&](StringId id) { return std::string(summary.text(id)); };
    table.rows.push_back({text(probe.probe), text(probe.rung), format_count(probe.seen),
                          format_count(probe.dropped), time_text(probe.cpu_ns),
                          bytes_cell(probe.memory_bytes), text(probe.settings), text(probe.why)});
  }
  table.note = summary.damage.empty() ? "The recording is whole." : summary.damage;
  return table;
}

}  // namespace

Result<std::vector<ReportTable>> run_tables(const Recording& recording, const Summary& summary) {
  std::vector<ReportTable> tables;
  const auto add = [&](ReportTable table) {
    if (!table.rows.empty()) tables.push_back(std::move(table));
  };
  TRY_ASSIGN(const std::vector<StepRow> steps, load_steps(recording));
  add(steps_table(steps));
  if (summary.programs.size() > 1) add(programs_table(summary));
  add(processes_table(summary));
  if (summary.stacks) add(functions_table(*summary.stacks));
  TRY_ASSIGN(CallTotals totals, load_call_totals(recording));
  if (const auto io = load_io_profile(recording, {}); io.ok()) {
    for (ReportTable& table : io_tables(io.value())) add(std::move(table));
    const auto is_shown = [](const CallTotal& total) { return is_io_layer(total.layer); };
    std::erase_if(totals.functions, is_shown);
    std::erase_if(totals.files, is_shown);
  }
  add(calls_table(totals.functions, false));
  add(calls_table(totals.files, true));
  add(events_table(summary));
  add(probes_table(summary));
  return tables;
}

std::vector<std::pair<std::string, std::string>> run_origin(const Summary& summary) {
  const Run& run = summary.run();
  std::vector<std::pair<std::string, std::string>> origin;
  const auto add = [&](const char* label, std::string text) {
    if (!text.empty()) origin.emplace_back(label, std::move(text));
  };
  if (run.real_offset_ns != 0) {
    const time_t when = (run.start_ns + run.real_offset_ns) / kNsPerSecond;
    tm utc{};
    char text[40] = "";
    if (gmtime_r(&when, &utc) != nullptr)
      strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
    add("Started", text);
  }
  add("Host", std::string(summary.text(run.host)));
  add("CPU", std::string(summary.text(run.cpu_model)));
  add("Cores", count_text(run.cores));
  add("Memory of the host", bytes_cell(run.memory_bytes));
  add("Kernel", std::string(summary.text(run.kernel)));
  add("Virtual", std::string(summary.text(run.virtualization)));
  add("Folder", std::string(summary.text(run.cwd)));
  add("Image", std::string(summary.text(run.image_digest)));
  add("Dataset", std::string(summary.text(run.dataset_hash)));
  add("Limits", std::string(summary.text(run.limits)));
  add("Looked every", time_text(run.interval_ns));
  add("Recorded by", "fathom " + std::string(summary.text(run.version)));
  return origin;
}

}  // namespace fathom
