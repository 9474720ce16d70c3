// SPDX-License-Identifier: Apache-2.0
#include "report/summary_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/text.h"
#include "base/text_style.h"
#include "report/counter_parts.h"
#include "report/label_lines.h"
#include "report/profile_text.h"
#include "report/run_facts.h"
#include "report/stacks_status.h"
#include "report/summary.h"

namespace fathom {
namespace {

// Of a figure that is not there.
const char* absent(const Summary& summary) {
  return summary.run().end_ns ? "not measured" : "not recorded";
}

// "12 % (10 to 15)" of the samples, with its 95 % interval, which rounding never makes narrower.
std::string sampled_percent(const StackSummary::HotFunction& function) {
  const double low = 100 * function.self_interval.low, high = 100 * function.self_interval.high;
  const int digits = function.self_share < 0.0995 || high - low < 1.95 ? 1 : 0;
  const double unit = digits == 0 ? 1 : 0.1;
  return fmt::format("{:.{}f} % ({:.{}f} to {:.{}f})", 100 * function.self_share, digits,
                     std::floor(low / unit) * unit, digits, std::ceil(high / unit) * unit, digits);
}

std::string headline(const Summary& summary, const ReportOptions& options) {
  const std::string facts = std::string(kDot) + join(run_facts(summary), kDot);
  const size_t room =
      options.columns > display_width(facts) + 12 ? options.columns - display_width(facts) : 12;
  return styled(Style::kHeading, fit(printable(summary.text(summary.run().command)), room),
                options.colours) +
         styled(ended_well(summary) ? Style::kGood : Style::kBad, facts, options.colours) + "\n";
}

void add_cpu(const Summary& summary, LabelLines& lines) {
  const Run& run = summary.run();
  std::vector<std::string> parts;
  if (run.user_ns && run.system_ns) {
    parts.push_back(format_duration_ns(*run.user_ns) + " user, " +
                    format_duration_ns(*run.system_ns) + " system");
  } else {
    parts.emplace_back(absent(summary));
  }
  if (summary.cpu_ns && summary.cpu_elapsed_ns > 0) {
    parts.push_back(fmt::format("{:.2f} of {} cores",
                                ratio(*summary.cpu_ns, summary.cpu_elapsed_ns),
                                run.cores.value_or(0)));
  }
  if (summary.cpu_ns && summary.cpu_elapsed_ns < summary.duration_ns) {
    const std::string elapsed = format_duration_ns(summary.cpu_elapsed_ns);
    parts.push_back(summary.is_part ? "in " + elapsed + " between readings"
                                    : "in the first " + elapsed + ", until the last reading");
  }
  if (run.wait_ns && summary.cpu_ns) {
    parts.push_back(percent(ratio(*run.wait_ns, *run.wait_ns + *summary.cpu_ns)) +
                    " of the time it could run, waiting for a core");
  }
  lines.add("CPU", parts);
}

void add_memory(const Summary& summary, LabelLines& lines) {
  const Run& run = summary.run();
  std::vector<std::string> parts;
  if (const GaugeRange* tree = summary.gauge("tree rss");
      tree != nullptr && run.processes.value_or(2) > 1) {
    parts.push_back(format_bytes(std::max<double>(
                        tree->largest, static_cast<double>(run.peak_rss_bytes.value_or(0)))) +
                    " most seen of the tree, shared pages in each");
  }
  // A look at a short process can miss its peak, which its parent is told when it ends.
  if (summary.largest && *summary.largest->peak_rss_bytes >= run.peak_rss_bytes.value_or(0)) {
    parts.push_back(format_bytes(*summary.largest->peak_rss_bytes) + " peak of " +
                    printable(summary.largest->name));
  } else if (run.peak_rss_bytes) {
    parts.push_back(format_bytes(*run.peak_rss_bytes) + " peak of one process");
  } else {
    parts.emplace_back("peak not measured");
  }
  if (run.cgroup_peak_bytes)
    parts.push_back(format_bytes(*run.cgroup_peak_bytes) +
                    " peak of the cgroup by the kernel, page cache included");
  if (run.minor_faults && run.major_faults) {
    parts.push_back(format_count(*run.minor_faults) + " minor, " + format_count(*run.major_faults) +
                    " major faults");
  }
  lines.add("Memory", parts);
}

// Of containers their own: what others on the host receive is none of theirs.
void add_network(const Summary& summary, LabelLines& lines) {
  const bool own = summary.gauge("cgroup net_received_total") != nullptr;
  const std::string scope = own ? "cgroup" : "host";
  const GaugeRange* in = summary.gauge(scope + " net_received_total");
  const GaugeRange* out = summary.gauge(scope + " net_sent_total");
  if (in == nullptr || out == nullptr) return;
  const auto received = in->last - in->first, sent = out->last - out->first;
  if (received + sent <= 0) return;
  std::vector<std::string> parts = {format_bytes(received) + " received",
                                    format_bytes(sent) + " sent"};
  if (!own) parts.emplace_back("whole host");
  lines.add("Network", parts);
}

void add_io(const Summary& summary, LabelLines& lines) {
  const Run& run = summary.run();
  if (run.disk_read_bytes && run.disk_written_bytes) {
    lines.add("Disk", {format_bytes(*run.disk_read_bytes) + " read",
                       format_bytes(*run.disk_written_bytes) + " written",
                       "accounted to processes, writes as pages become dirty"});
  } else {
    lines.add("Disk", {absent(summary)});
  }
  if (run.read_chars && run.written_chars) {
    lines.add("I/O", {format_bytes(*run.read_chars) + " read",
                      format_bytes(*run.written_chars) + " written",
                      "accounted to processes: caches, pipes and reads by exec included"});
  }
  add_network(summary, lines);
}

void add_pressure(const Summary& summary, LabelLines& lines) {
  for (const std::string scope : {"cgroup", "host"}) {
    std::vector<std::string> parts;
    for (const std::string what : {"cpu", "io", "memory"}) {
      const GaugeRange* stalled =
          summary.gauge(fmt::format("{} pressure_{}_some_total", scope, what));
      if (stalled == nullptr || stalled->first_ns == stalled->last_ns) continue;  // one look
      const auto stalled_ns = static_cast<int64_t>(stalled->last - stalled->first);
      // The kernel's clock is not the one of our looks: no more than the time that passed.
      const double share = ratio(stalled_ns, stalled->last_ns - stalled->first_ns);
      parts.push_back(what + " " + percent(std::min(share, 1.0)));
    }
    if (parts.empty()) continue;
    parts.emplace_back(scope == "host" ? "of the time something on the host was short of it"
                                       : "of the time a task was short of it");
    lines.add("Pressure", parts);
    return;
  }
}

void add_programs(const Summary& summary, LabelLines& lines) {
  std::vector<std::string> parts;
  for (const ProgramShare& program : summary.programs) {
    if (parts.size() == 6 || program.cpu_share < 0.005) break;
    std::string part = printable(program.name) + " " + percent(program.cpu_share);
    if (program.processes > 1) part += fmt::format(" ({}×)", format_count(program.processes));
    parts.push_back(part);
  }
  const bool several = summary.programs.size() > 1;
  // Exact values and shares of samples are lines of their own.
  if (several && !parts.empty()) {
    parts.emplace_back("of the CPU time of all processes");
    lines.add("Programs", parts);
  }
  if (!summary.stacks) return;
  std::vector<std::string> functions;
  for (const StackSummary::HotFunction& function : summary.stacks->functions) {
    if (functions.size() == 5 || function.self_share < 0.005) break;
    if (function.name == kOwnFrame) continue;  // which the line about stacks has
    std::string name = printable(function.name);
    if (name == "[unknown]" && !function.module.empty())
      name += " in " + printable(module_name(function.module));
    functions.push_back(fit_name(name, 36) + " " + sampled_percent(function));
  }
  if (functions.empty()) return;
  functions.emplace_back("of the samples, in the function itself (95 % interval)");
  lines.add("Hot", functions);
}

// The probe ran, and there is nothing of it.
void add_no_stacks(const Summary& summary, LabelLines& lines) {
  auto status = stacks_status(*summary.tables);
  if (!status) return;
  if (summary.is_part) status->taken = 0;  // those of other parts
  std::vector<std::string> parts = {no_samples_text(*status)};
  if (summary.cpu_ns)
    parts.push_back("the program used " + format_duration_ns(*summary.cpu_ns) + " of CPU");
  lines.add("Stacks", parts);
}

void add_stacks(const Summary& summary, LabelLines& lines) {
  if (!summary.stacks) return add_no_stacks(summary, lines);
  const StackSummary& stacks = *summary.stacks;
  std::string samples = plural(stacks.samples, "sample", "samples");
  for (size_t i = 0; i < stacks.rates_hz.size(); ++i)
    samples += (i == 0 ? " at " : ", ") + format_count(stacks.rates_hz[i]);
  if (!stacks.rates_hz.empty()) samples += " Hz";
  if (stacks.rates_hz.empty() && imported(summary)) samples += ", rate not known";
  if (!stacks.obtained.empty()) samples += " (" + stacks.obtained + ")";
  std::vector<std::string> parts = {samples};
  if (stacks.quality) parts.push_back(quality_text(*stacks.quality));
  if (stacks.own_share > 0) parts.push_back(percent(stacks.own_share) + " in Fathom's own code");
  lines.add("Stacks", parts);
  if (!stacks.quality) return;
  for (const std::string& word : quality_words(*stacks.quality))
    lines.add_prose("", word, Style::kFaint);
}

// What a probe counts when it drops something.
std::pair<std::string_view, std::string_view> dropped_unit(std::string_view probe) {
  if (probe == "app" || probe == "exec") return {"line", "lines"};
  if (probe == "io" || probe == "cuda") return {"call", "calls"};
  if (probe == "counters") return {"thread", "threads"};
  if (probe == "python") return {"profile", "profiles"};
  if (probe == "simulate") return {"file", "files"};
  return {"record", "records"};
}

// By probe, since each counts something else.
std::vector<std::string> dropped_parts(const Summary& summary) {
  std::vector<std::string> parts;
  int64_t others = summary.run().dropped.value_or(0);
  for (const ProbeStatus& probe : summary.tables->rows.of<ProbeStatus>()) {
    if (probe.dropped <= 0) continue;
    others -= probe.dropped;
    const std::string_view name = summary.text(probe.probe);
    const auto [one, many] = dropped_unit(name);
    parts.push_back(
        fmt::format("{} dropped by {}", plural(probe.dropped, one, many), printable(name)));
  }
  if (others > 0) parts.push_back(plural(others, "record", "records") + " dropped");
  if (parts.empty()) return {dropped_text(0, "", summary.damage)};
  if (damage_took_records(summary.damage)) parts.emplace_back("more lost to damage");
  return parts;
}

void add_recorder(const Summary& summary, LabelLines& lines) {
  const Run& run = summary.run();
  if (!run.recorder_cpu_ns) return;
  std::string cpu = format_duration_ns(*run.recorder_cpu_ns) + " CPU";
  // Of a shorter run most of it is start-up.
  if (summary.duration_ns >= kNsPerSecond && !summary.is_part) {
    cpu += ", " + percent(ratio(*run.recorder_cpu_ns, summary.duration_ns)) + " of one core";
  }
  // The kernel charges it to the program, or to others on the host.
  if (run.recorder_bpf_ns)
    cpu += " + " + format_duration_ns(*run.recorder_bpf_ns) + " in BPF programs";
  std::vector<std::string> parts = {
      cpu,
      "peak " + format_bytes(run.recorder_rss_bytes.value_or(0)) + " + " +
          format_bytes(run.recorder_buffer_bytes.value_or(0)) + " in the kernel",
      plural(run.records.value_or(0), "record", "records")};
  const int64_t dropped = run.dropped.value_or(0);
  for (std::string& part : dropped_parts(summary)) parts.push_back(std::move(part));
  lines.add("Recorder", parts,
            dropped == 0 && !damage_took_records(summary.damage) ? Style::kPlain : Style::kWarning);
}

void add_notes(const Summary& summary, LabelLines& lines) {
  const Run& run = summary.run();
  for (const ProbeStatus& probe : summary.tables->rows.of<ProbeStatus>()) {
    if (probe.why == StringId::kNone) continue;
    lines.add_prose(
        "Note",
        std::string(summary.text(probe.probe)) + ": " + std::string(summary.text(probe.why)),
        Style::kFaint);
  }
  if (run.left_running.value_or(0) > 0) {
    lines.add_prose("Note",
                    plural(*run.left_running, "process it left behind still runs",
                           "processes it left behind still run") +
                        "; record until they end with --wait-all",
                    Style::kFaint);
  }
  if (!summary.damage.empty()) lines.add_prose("Missing", summary.damage, Style::kWarning);
}

// What makes shares below wrong comes before them.
void add_coverage(const Summary& summary, LabelLines& lines) {
  if (!summary.coverage) return;
  bool first = true;
  for (const std::string& words : coverage_words(*summary.coverage)) {
    lines.add_prose(first ? "Sampling" : "", words, Style::kWarning);
    first = false;
  }
}

void add_all(const Summary& summary, LabelLines& lines) {
  add_coverage(summary, lines);
  if (!imported(summary)) {
    add_cpu(summary, lines);
    add_memory(summary, lines);
    add_io(summary, lines);
  }
  add_pressure(summary, lines);
  lines.add("Counters", counter_parts(summary));
  lines.add("App", told_parts(summary));
  add_stacks(summary, lines);
  add_programs(summary, lines);
  add_recorder(summary, lines);
  add_notes(summary, lines);
}

}  // namespace

SummaryLines summary_lines(const Summary& summary) {
  SummaryLines found{run_facts(summary), ended_well(summary), {}};
  LabelLines lines(found.lines);
  add_all(summary, lines);
  return found;
}

Status write_summary_report(const Recording& recording, const ReportOptions& given) {
  TRY_ASSIGN(const Summary summary, summarize(recording));
  ReportOptions options = given;
  options.columns = prose_columns(given);
  std::string text = headline(summary, options);
  LabelLines lines(options, text);
  add_all(summary, lines);
  return print_to(options.out, text);
}

}  // namespace fathom
