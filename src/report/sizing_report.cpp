// SPDX-License-Identifier: Apache-2.0
#include "report/sizing_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text.h"
#include "report/label_lines.h"
#include "report/sizing.h"
#include "report/step_rows.h"
#include "report/text_table.h"

namespace fathom {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kMuch = 0.01;  // of the memory needed: less is not worth a note

std::string per_second(const std::optional<double>& rate) {
  return rate ? format_bytes(*rate) + "/s" : "";
}

// "needs 1.7 cores p95, 612 MB peak, 40 MB/s read, GPU 35 %"
std::string headline(const SizingFigures& figures, const char* verb = "needs ") {
  std::vector<std::string> parts;
  if (figures.p95_cores) parts.push_back(fmt::format("{:.2f} cores p95", *figures.p95_cores));
  if (figures.peak_memory_bytes)
    parts.push_back(format_bytes(*figures.peak_memory_bytes) + " peak");
  if (figures.disk_read.value_or(0) >= 1e5)
    parts.push_back(per_second(figures.disk_read) + " read");
  if (figures.disk_written.value_or(0) >= 1e5)
    parts.push_back(per_second(figures.disk_written) + " written");
  if (figures.gpu_share) parts.push_back(fmt::format("GPU {:.0f} %", *figures.gpu_share));
  return parts.empty() ? "nothing was measured" : verb + join(parts, ", ");
}

bool is_empty(const SizingFigures& figures) {
  const std::optional<double> all[] = {
      figures.p95_cores,    figures.peak_memory_bytes, figures.disk_read,
      figures.disk_written, figures.net_received,      figures.net_sent,
      figures.read_calls,   figures.write_calls,       figures.gpu_share};
  return std::none_of(std::begin(all), std::end(all),
                      [](const std::optional<double>& value) { return value.has_value(); });
}

// As cpu.stat of the cgroup counted during the recording.
void add_throttling(const SizingFigures& figures, LabelLines& lines) {
  if (!figures.throttled_share) return;
  std::vector<std::string> parts = {fmt::format("throttled in {:.0f} of {:.0f} periods ({})",
                                                figures.throttled_periods, figures.periods,
                                                percent(*figures.throttled_share))};
  if (figures.throttled_ns)
    parts.push_back("for " + format_duration_ns(static_cast<int64_t>(*figures.throttled_ns)));
  parts.emplace_back("cpu.stat of the cgroup");
  lines.add("", parts);
}

std::vector<std::string> needed_parts(const SizingFigures& figures) {
  const MemoryNeed& memory = figures.memory;
  std::vector<std::string> parts = {format_bytes(*figures.peak_memory_bytes) + " needed"};
  switch (memory.source) {
    case MemorySource::kProcesses:
      parts.emplace_back("resident sets of the processes, without a cgroup");
      return parts;
    case MemorySource::kReadings:
      parts.push_back("the highest of " +
                      plural(static_cast<int64_t>(memory.readings), "reading", "readings"));
      break;
    default:
      parts.push_back("the kernel's peak and " +
                      plural(static_cast<int64_t>(memory.readings), "reading", "readings"));
  }
  parts.emplace_back("less inactive page cache");
  if (memory.between_readings > kMuch * *figures.peak_memory_bytes)
    parts.push_back(format_bytes(memory.between_readings) + " of it between two readings");
  return parts;
}

void add_memory(const SizingFigures& figures, LabelLines& lines) {
  const MemoryNeed& memory = figures.memory;
  if (figures.peak_memory_bytes) lines.add("Memory", needed_parts(figures));
  std::vector<std::string> kernel;
  const auto add = [&](const std::optional<double>& value, const char* what) {
    if (value) kernel.push_back(format_bytes(*value) + " " + what);
  };
  add(figures.peak_with_cache_bytes, "peak of the cgroup, page cache included");
  if (!figures.peak_with_cache_bytes)
    add(memory.lifetime_peak, "peak of the cgroup before the recording");
  lines.add(figures.peak_memory_bytes ? "" : "Memory", kernel);
  kernel.clear();
  add(memory.anonymous, "anonymous");
  add(memory.shared, "shared or tmpfs");
  add(memory.cache, "page cache");
  if (!kernel.empty())
    kernel.emplace_back("each at its highest reading; more between readings is not seen");
  lines.add("", kernel);
  if (!figures.limit_memory_bytes) return;
  std::vector<std::string> limit = {"limit " + format_bytes(*figures.limit_memory_bytes)};
  if (memory.limit_hits.value_or(0) > 0)
    limit.push_back(fmt::format("reached {:.0f} times", *memory.limit_hits));
  else if (memory.readings_at_limit > 0)
    limit.push_back(
        fmt::format("reached at {} of {} readings", memory.readings_at_limit, memory.readings));
  lines.add("", limit);
}

std::string disk_source(const SizingFigures& figures) {
  const DiskSource read = figures.disk_read_source, written = figures.disk_written_source;
  const std::string cgroup = "the cgroup's requests to devices";
  const std::string dirty = "pages made dirty, by process accounting";
  if (read == DiskSource::kCgroup && written == DiskSource::kCgroup) return cgroup;
  if (read == DiskSource::kProcesses && written == DiskSource::kProcesses)
    return "pages fetched and made dirty, by process accounting";
  std::vector<std::string> parts;
  if (read != DiskSource::kNone)
    parts.push_back("read: " + (read == DiskSource::kCgroup ? cgroup : "process accounting"));
  if (written != DiskSource::kNone)
    parts.push_back("written: " + (written == DiskSource::kCgroup ? cgroup : dirty));
  return join(parts, "; ");
}

void add_disk(const SizingFigures& figures, LabelLines& lines) {
  if (!figures.disk_read && !figures.disk_written) return lines.add("Disk", {"not measured"});
  const auto rate = [](const std::optional<double>& value, const char* what) {
    return value ? per_second(value) + " " + what : what + std::string(" not measured");
  };
  lines.add("Disk", {rate(figures.disk_read, "read"), rate(figures.disk_written, "written"),
                     "in the busiest second"});
  lines.add_prose("", disk_source(figures), Style::kPlain);
}

void add_figures(const SizingFigures& figures, LabelLines& lines) {
  std::vector<std::string> cpu;
  const auto cores = [&](const std::optional<double>& value, const char* what) {
    if (value) cpu.push_back(fmt::format("{:.2f} cores {}", *value, what));
  };
  cores(figures.mean_cores, "on average");
  cores(figures.p95_cores, "p95");
  cores(figures.peak_cores, "at most");
  if (figures.limit_cores) cpu.push_back(fmt::format("limit {:g}", *figures.limit_cores));
  if (figures.cpu_intervals > 0)
    cpu.push_back(fmt::format("p95 and most of {} of {}",
                              plural(figures.cpu_intervals, "interval", "intervals"),
                              format_duration_ns(figures.cpu_interval_ns)));
  lines.add("CPU", cpu);
  add_throttling(figures, lines);
  add_memory(figures, lines);
  const auto pair = [&](const char* label, const std::optional<double>& first, const char* in,
                        const std::optional<double>& second, const char* out, const char* what) {
    std::vector<std::string> parts;
    if (first) parts.push_back(per_second(first) + " " + in);
    if (second) parts.push_back(per_second(second) + " " + out);
    if (!parts.empty()) parts.emplace_back(what);
    lines.add(label, parts);
  };
  add_disk(figures, lines);
  pair("I/O", figures.read_calls, "read", figures.write_calls, "written",
       "in the busiest second, by system calls, caches included");
  pair("Network", figures.net_received, "received", figures.net_sent, "sent",
       "in the busiest second");
  std::vector<std::string> gpu;
  if (figures.gpu_share) gpu.push_back(fmt::format("{:.0f} % busy p95", *figures.gpu_share));
  if (figures.gpu_memory_bytes) gpu.push_back(format_bytes(*figures.gpu_memory_bytes) + " peak");
  lines.add("GPU", gpu);
}

std::string memory_text(double bytes) { return fmt::format("{:.0f}Mi", bytes / kMiB); }
std::string cpu_text(double cores) {
  return fmt::format("{:.0f}m", std::ceil(cores * 1000 - 1e-6));
}

std::string kubernetes(const SizingAdvice& advice) {
  const auto amounts = [](const std::optional<double>& cores, const std::optional<double>& bytes) {
    return (cores ? "    cpu: " + cpu_text(*cores) + "\n" : "") +
           (bytes ? "    memory: " + memory_text(*bytes) + "\n" : "");
  };
  std::string text = "resources:\n";
  if (advice.request_cores || advice.request_bytes)
    text += "  requests:\n" + amounts(advice.request_cores, advice.request_bytes);
  if (advice.limit_cores || advice.limit_bytes || advice.gpus > 0)
    text += "  limits:\n" + amounts(advice.limit_cores, advice.limit_bytes);
  if (advice.gpus > 0) text += fmt::format("    nvidia.com/gpu: {}\n", advice.gpus);
  return text;
}

std::string compose(const SizingAdvice& advice) {
  const auto amounts = [](const std::optional<double>& cores, const std::optional<double>& bytes) {
    return (cores ? fmt::format("      cpus: \"{:.2f}\"\n", *cores) : "") +
           (bytes ? fmt::format("      memory: {:.0f}M\n", *bytes / kMiB) : "");
  };
  std::string text = "deploy:\n  resources:\n";
  if (advice.request_cores || advice.request_bytes || advice.gpus > 0)
    text += "    reservations:\n" + amounts(advice.request_cores, advice.request_bytes);
  if (advice.gpus > 0)
    text += fmt::format(
        "      devices:\n        - driver: nvidia\n          count: {}\n          capabilities: "
        "[gpu]\n",
        advice.gpus);
  if (advice.limit_cores || advice.limit_bytes)
    text += "    limits:\n" + amounts(advice.limit_cores, advice.limit_bytes);
  return text;
}

std::string indented(const std::string& text) {
  std::string out;
  for (const std::string_view line : split_words(text, '\n'))
    out += "    " + std::string(line) + "\n";
  return out;
}

std::string steps_text(const std::vector<StepRow>& steps, const ReportOptions& options) {
  const ReportTable table = steps_table(steps);
  std::vector<TextColumn> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const bool name = table.columns[i].kind == ColumnKind::kName;
    columns.push_back({table.columns[i].title.c_str(),
                       table.columns[i].kind == ColumnKind::kNumber ? Side::kRight : Side::kLeft,
                       name ? 0 : static_cast<int>(i), name ? size_t{12} : size_t{0}});
  }
  TextTable text(columns);
  for (const std::vector<std::string>& row : table.rows) {
    std::vector<std::string> cells;
    cells.reserve(row.size());
    for (const std::string& cell : row) cells.push_back(printable(cell));
    text.add(std::move(cells));
  }
  return text.write(options);
}

Status add_nodes(const Sizing& sizing, const ReportOptions& options, LabelLines& lines) {
  if (options.nodes.empty()) return {};
  TRY_ASSIGN(const std::vector<NodeDescription> nodes, load_nodes(options.nodes));
  bool first = true;
  for (const NodeDescription& node : nodes) {
    const NodeFit fit = check_fit(node, sizing.figures, sizing.advice);
    const char* verdict = fit.verdict == NodeFit::Verdict::kFits      ? " fits"
                          : fit.verdict == NodeFit::Verdict::kUnknown ? " may fit"
                                                                      : " does not fit";
    lines.add_prose(
        first ? "Fit" : "",
        printable(fit.name) + verdict + (fit.reasons.empty() ? "" : ": " + join(fit.reasons, ", ")),
        fit.verdict == NodeFit::Verdict::kFits ? Style::kPlain : Style::kWarning);
    first = false;
  }
  lines.add_prose("", "requests, and the busiest second of the disk, of what each node has",
                  Style::kPlain);
  return {};
}

void add_advice(const SizingFigures& figures, const SizingAdvice& advice, LabelLines& lines) {
  const auto parts = [](const std::optional<double>& cores, const std::optional<double>& bytes) {
    std::vector<std::string> texts;
    if (cores) texts.push_back(cpu_text(*cores) + " CPU");
    if (bytes) texts.push_back(memory_text(*bytes) + " memory");
    return texts;
  };
  const auto request = parts(advice.request_cores, advice.request_bytes);
  const auto limit = parts(advice.limit_cores, advice.limit_bytes);
  lines.add("Request", request);
  if (!request.empty()) lines.add_prose("", request_rule(), Style::kPlain);
  lines.add("Limit", limit);
  if (!limit.empty()) lines.add_prose("", limit_rule(figures), Style::kPlain);
}

// One container after the other, each as if it were alone.
std::string containers_text(const Sizing& sizing, const ReportOptions& options) {
  std::string text;
  for (const ContainerSizing& container : sizing.containers) {
    text += "\n" +
            styled(Style::kHeading, fit(printable(container.name), options.columns / 2),
                   options.colours) +
            " " + headline(container.figures) + "\n";
    LabelLines lines(options, text);
    add_figures(container.figures, lines);
    add_advice(container.figures, container.advice, lines);
    for (const std::string& warning : container.warnings)
      lines.add_prose("Warning", warning, Style::kWarning);
  }
  return text;
}

// What to write into a compose file, or a pod, of all of them.
std::string snippets(const Sizing& sizing) {
  if (sizing.containers.empty())
    return "\n  Kubernetes\n" + indented(kubernetes(sizing.advice)) + "\n  Compose\n" +
           indented(compose(sizing.advice));
  std::string pods = "containers:\n", services = "services:\n";
  for (const ContainerSizing& container : sizing.containers) {
    pods +=
        "  - name: " + printable(container.name) + "\n" + indented(kubernetes(container.advice));
    services += "  " + printable(container.name) + ":\n" + indented(compose(container.advice));
  }
  return "\n  Kubernetes\n" + indented(pods) + "\n  Compose\n" + indented(services);
}

}  // namespace

Status write_sizing_report(const Recording& recording, const ReportOptions& options) {
  TRY_ASSIGN(const Summary summary, summarize(recording));
  TRY_ASSIGN(const Sizing sizing, work_out_sizing(recording, summary));
  if (is_empty(sizing.figures) && sizing.containers.empty()) {
    return Error{Code::kNotFound, recording.path() + " contains no readings of CPU and memory",
                 "record them with: fathom run -- COMMAND"};
  }
  TRY_ASSIGN(const std::vector<StepRow> steps, load_steps(recording));
  // A container may have the name of the run.
  const size_t several = sizing.containers.size();
  const std::string title = several > 0 ? fmt::format("{} containers together", several)
                                        : printable(summary.text(summary.run().label));
  std::string text = styled(Style::kHeading, fit(title, options.columns / 2), options.colours) +
                     " " + headline(sizing.figures, several > 0 ? "need " : "needs ") + "\n";
  LabelLines lines(options, text);
  add_figures(sizing.figures, lines);
  add_advice(sizing.figures, sizing.advice, lines);
  TRY(add_nodes(sizing, options, lines));
  for (const std::string& warning : sizing.warnings)
    lines.add_prose("Warning", warning, Style::kWarning);
  if (!steps.empty()) text += "\n" + steps_text(steps, options);
  text += containers_text(sizing, options) + snippets(sizing);
  return print_to(options.out, text);
}

}  // namespace fathom
