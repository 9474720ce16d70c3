// SPDX-License-Identifier: Apache-2.0
#include "report/step_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace fathom {
namespace {

constexpr auto kNumber = ColumnKind::kNumber;

std::string time_cell(const Maybe& ns) { return ns ? format_duration_ns(*ns) : ""; }
std::string bytes_cell(const Maybe& bytes) { return bytes ? format_bytes(*bytes) : ""; }

Maybe cpu_ns(const Step& step) {
  return step.user_ns && step.system_ns ? Maybe(*step.user_ns + *step.system_ns) : std::nullopt;
}

std::string cores_cell(const Step& step) {
  const Maybe used = cpu_ns(step);
  const int64_t length_ns = step.end_ns.value_or(step.start_ns) - step.start_ns;
  if (!used || length_ns <= 0) return "";
  return fmt::format("{:.2f}", static_cast<double>(*used) / static_cast<double>(length_ns));
}

}  // namespace

bool is_reached(const Step& step) { return step.timed_out.has_value(); }

std::string step_ending(const Step& step) {
  if (!is_reached(step)) return "not reached";
  if (step.timed_out.value_or(0) != 0) return "time limit";
  if (step.exit_signal) return fmt::format("signal {}", *step.exit_signal);
  if (step.exit_status) return fmt::format("exit {}", *step.exit_status);
  return step.end_ns ? "could not be executed" : "ended with the container";
}

Result<std::vector<StepRow>> load_steps(const Recording& recording) {
  std::vector<StepRow> steps;
  TRY(recording.read(tables_of<Step>(), [&](const Batch& batch) -> Status {
    for (const Step& step : batch.rows.of<Step>()) {
      std::string name(batch.dictionary.text(step.name));
      steps.push_back({name, name, std::string(batch.dictionary.text(step.command)), step});
    }
    return {};
  }));
  std::stable_sort(steps.begin(), steps.end(), [](const StepRow& left, const StepRow& right) {
    return left.figures.start_ns < right.figures.start_ns;
  });
  for (StepRow& step : steps) {
    const bool several = std::any_of(steps.begin(), steps.end(), [&](const StepRow& other) {
      return other.name == step.name && other.figures.repetition > 1;
    });
    if (several) step.title = fmt::format("{} ({})", step.name, step.figures.repetition);
  }
  return steps;
}

ReportTable steps_table(const std::vector<StepRow>& steps) {
  ReportTable table{"steps", "Steps", "", {}, {}};
  table.columns = {
      {"Step", ColumnKind::kName}, {"Took", kNumber},      {"CPU", kNumber},
      {"Cores", kNumber},          {"Throttled", kNumber}, {"Peak", kNumber},
      {"Read", kNumber},           {"Written", kNumber},   {"Ended", ColumnKind::kText}};
  for (const StepRow& step : steps) {
    const Step& row = step.figures;
    const Maybe took = row.end_ns ? Maybe(*row.end_ns - row.start_ns) : std::nullopt;
    table.rows.push_back({step.title, time_cell(took), time_cell(cpu_ns(row)), cores_cell(row),
                          time_cell(row.throttled_ns), bytes_cell(row.peak_bytes),
                          bytes_cell(row.read_chars), bytes_cell(row.written_chars),
                          step_ending(row)});
  }
  table.note =
      "Figures are of all that ran meanwhile; the peak includes page cache, and what is read and "
      "written is by system calls.";
  return table;
}

}  // namespace fathom
