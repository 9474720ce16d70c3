// SPDX-License-Identifier: Apache-2.0
#include "report/json_report.h"

#include <fmt/format.h>

#include "base/text.h"
#include "record/row_text.h"
#include "report/io_json.h"
#include "report/json_text.h"
#include "report/summary.h"

namespace fathom {
namespace {

template <class Record>
std::string list_json(const Summary& summary) {
  RowText text(summary.tables->names.dictionary(), summary.tables->rows);
  std::string json = "[";
  for (const Record& record : summary.tables->rows.of<Record>()) {
    json += (json.size() > 1 ? ",\n    " : "\n    ") + text.json(record);
  }
  return json + (json.size() > 1 ? "\n  ]" : "]");
}

std::string programs_json(const Summary& summary) {
  std::string json = "[";
  for (const ProgramShare& program : summary.programs) {
    json += fmt::format(
        "{}\n    "
        "{{\"name\":{},\"processes\":{},\"cpu_ns\":{},\"cpu_share\":{:.6f},\"peak_rss_bytes\":{}}}",
        json.size() > 1 ? "," : "", json_quote(program.name), program.processes,
        number_json(program.cpu_ns), program.cpu_share, number_json(program.peak_rss_bytes));
  }
  return json + (json.size() > 1 ? "\n  ]" : "]");
}

std::string quality_json(const UnwindQuality& quality) {
  std::string others;
  for (const auto& [how, samples] : quality.others)
    others += fmt::format("{}{}:{}", others.empty() ? "" : ",", json_quote(how), samples);
  return fmt::format("{{\"samples\":{},\"complete\":{},\"others\":{{{}}},\"dropped\":{}}}",
                     quality.samples, quality.complete, others, quality.dropped);
}

std::string stacks_json(const Summary& summary) {
  if (!summary.stacks) return "null";
  const StackSummary& stacks = *summary.stacks;
  std::string functions;
  for (const StackSummary::HotFunction& function : stacks.functions) {
    functions += fmt::format(
        "{}\n      {{\"name\":{},\"module\":{},\"self_share\":{:.6f},\"self_low\":{:.6f},"
        "\"self_high\":{:.6f},\"total_share\":{:.6f},\"total_low\":{:.6f},\"total_high\":{:.6f},"
        "\"samples\":{},\"n\":{}}}",
        functions.empty() ? "" : ",", json_quote(function.name),
        function.module.empty() ? "null" : json_quote(function.module), function.self_share,
        function.self_interval.low, function.self_interval.high, function.total_share,
        function.total_interval.low, function.total_interval.high, function.samples,
        stacks.effective_samples);
  }
  return fmt::format(
      "{{\n    \"event\": {},\n    \"samples\": {},\n    \"rates_hz\": [{}],\n    \"unwind\": {},\n"
      "    \"fathom_share\": {:.6f},\n"
      "    \"functions\": [{}\n    ]\n  }}",
      json_quote(stacks.event), stacks.samples, fmt::join(stacks.rates_hz, ","),
      stacks.quality ? quality_json(*stacks.quality) : "null", stacks.own_share, functions);
}

// null: samples could not be compared with CPU times.
std::string coverage_json(const Summary& summary) {
  if (!summary.coverage) return "null";
  const SampleCoverage& coverage = *summary.coverage;
  std::string gaps;
  for (const CoverageGap& gap : coverage.gaps) {
    const auto id = [](int64_t value) { return value > 0 ? std::to_string(value) : "null"; };
    gaps += fmt::format(
        "{}\n      {{\"level\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{},\"processes\":{},"
        "\"cpu_ns\":{},\"cpu_is_minimum\":{},\"sampled_ns\":{},\"expected_low_ns\":{:.0f},"
        "\"expected_high_ns\":{:.0f}}}",
        gaps.empty() ? "" : ",", coverage_level_name(gap.level),
        gap.name.empty() ? "null" : json_quote(gap.name), id(gap.pid), id(gap.tid),
        id(gap.processes), gap.cpu_ns, gap.is_minimum, gap.sampled_ns, gap.expected_low_ns,
        gap.expected_high_ns);
  }
  return fmt::format(
      "{{\n    \"event\": {},\n    \"user_only\": {},\n    \"compared\": {},\n    "
      "\"confidence\": {},\n    \"sampled_ns\": {},\n    \"underrepresented\": [{}]\n  }}",
      json_quote(coverage.event), coverage.user_only, coverage.compared, kCoverageConfidence,
      coverage.sampled_ns, gaps.empty() ? gaps : gaps + "\n    ");
}

// null: no calls of I/O were recorded.
Result<std::string> calls_json(const Recording& recording) {
  const auto profile = load_io_profile(recording, {});
  if (profile.ok()) return io_json(profile.value());
  if (profile.error().code == Code::kNotFound) return std::string("null");
  return profile.error();
}

std::string gauges_json(const Summary& summary) {
  std::string json = "{";
  for (const auto& [name, range] : summary.gauges) {
    json += fmt::format("{}\n    {}: {{\"unit\":{},\"first\":{},\"last\":{},\"largest\":{}}}",
                        json.size() > 1 ? "," : "", json_quote(name), json_quote(range.unit),
                        range.first, range.last, range.largest);
  }
  return json + (json.size() > 1 ? "\n  }" : "}");
}

}  // namespace

Status write_json_report(const Recording& recording, const ReportOptions& options) {
  TRY_ASSIGN(const Summary summary, summarize(recording));
  TRY_ASSIGN(const std::string io, calls_json(recording));
  RowText text(summary.tables->names.dictionary(), summary.tables->rows);
  const std::string damage = summary.damage.empty() ? "null" : json_quote(summary.damage);
  return print_to(
      options.out,
      fmt::format("{{\n  \"format\": 1,\n  \"damage\": {},\n  \"sample_coverage\": {},\n  "
                  "\"duration_ns\": {},\n  \"run\": {},\n"
                  "  \"probes\": {},\n  \"programs\": {},\n  \"stacks\": {},\n  \"io\": {},\n  "
                  "\"gauges\": {},\n  \"events\": {},\n  \"processes\": {}\n}}\n",
                  damage, coverage_json(summary), summary.duration_ns,
                  text.json(summary.run(), "  "), list_json<ProbeStatus>(summary),
                  programs_json(summary), stacks_json(summary), io, gauges_json(summary),
                  list_json<EventCount>(summary), list_json<Process>(summary)));
}

}  // namespace fathom
