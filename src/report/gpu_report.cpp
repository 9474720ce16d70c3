// SPDX-License-Identifier: Apache-2.0
#include "report/gpu_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/text_style.h"
#include "report/gpu_profile.h"
#include "report/io_text.h"
#include "report/label_lines.h"
#include "report/text_table.h"
#include "symbol/demangle.h"

namespace fathom {
namespace {

constexpr size_t kUsualRows = 15;
constexpr size_t kUsualProcesses = 8;
constexpr const char* kNotImported = "not in the imported file";

std::string share(int64_t part, int64_t whole) {
  if (whole <= 0) return "";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void add_head(const GpuProfile& profile, LabelLines& lines) {
  const auto is_unknown = [&](const GpuCalls& of) { return profile.imported && of.calls == 0; };
  const GpuCalls& total = profile.total;
  std::vector<std::string> driver = {
      plural(total.calls, "call", "calls"), format_duration_ns(total.time_ns) + " in them",
      profile.imported && !total.has_results ? "failures not recorded"
      : total.errors == 0                    ? "none failed"
                                             : format_count(total.errors) + " failed"};
  if (total.untimed > 0) driver.push_back(format_count(total.untimed) + " only counted, not timed");
  lines.add("Driver", is_unknown(total) ? std::vector<std::string>{kNotImported} : driver);
  if (is_unknown(profile.launches)) {
    lines.add("Launches", {kNotImported});
  } else {
    lines.add("Launches", {format_count(profile.launches.calls),
                           format_duration_ns(profile.launches.time_ns) + " of the CPU's time"});
  }
  if (profile.gaps.calls() > 0)
    lines.add("Gaps", {bound_text(profile.gaps.percentile(50)) + " between launches (median)",
                       bound_text(profile.gaps.percentile(99)) + " (99 %)",
                       bound_text(profile.gaps.longest()) + " the longest"});
  if (is_unknown(profile.waits)) return lines.add("Waits", {kNotImported});
  std::vector<std::string> waits = {format_duration_ns(profile.waits.time_ns) + " for the GPU",
                                    plural(profile.waits.calls, "call", "calls")};
  if (const std::string of = share(profile.waits.time_ns, profile.duration_ns); !of.empty())
    waits.push_back(of + " of the run");
  lines.add("Waits", waits);
}

void add_memory(const GpuProfile& profile, LabelLines& lines) {
  size_t shown = 0;
  for (const auto& [scope, memory] : profile.memory) {
    if (++shown > kUsualProcesses) break;
    std::vector<std::string> parts = {printable(scope)};
    if (memory.peak_bytes) {
      parts.push_back(format_bytes(*memory.peak_bytes) + " at most");
      parts.push_back(format_bytes(memory.last_bytes) + " at the end");
    } else {
      parts.push_back(format_bytes(memory.last_bytes) + " when the file was last written");
      parts.emplace_back("peak not recorded");
    }
    lines.add(shown == 1 ? "Memory" : "", parts);
  }
  if (profile.memory.size() > kUsualProcesses)
    lines.add("", {format_count(profile.memory.size() - kUsualProcesses) + " more processes"});
  if (profile.leaks.calls > 0)
    lines.add("Not freed", {format_bytes(profile.leaks.bytes),
                            plural(profile.leaks.calls, "allocation", "allocations")});
}

void add_coverage(const GpuProfile& profile, LabelLines& lines) {
  lines.add(
      "Seen",
      {!profile.has_probe ? "losses not known"
                          : dropped_calls_text(profile.dropped, profile.damage),
       profile.on_device.empty() ? "times are the host's" : "times on the device are told apart"},
      is_lossy(profile.dropped, profile.damage) ? Style::kWarning : Style::kPlain);
  if (!profile.why.empty()) lines.add_prose("Note", printable(profile.why), Style::kWarning);
  if (!profile.damage.empty())
    lines.add_prose("Missing", printable(profile.damage), Style::kWarning);
}

std::string more_text(size_t rows, size_t all, const ReportOptions& options) {
  return rows < all ? footnote(format_count(all - rows) + " more; --limit 0 shows all", options)
                    : "";
}

std::string kernels_text(const GpuProfile& profile, const ReportOptions& options) {
  if (profile.kernels.empty()) return "";
  const size_t rows = rows_shown(options, kUsualRows, profile.kernels.size());
  TextTable table({{"kernel", Side::kLeft, 0, kLeastName},
                   {"launches"},
                   {"share", Side::kRight, 1},
                   {"launch time", Side::kRight, 2}});
  for (size_t i = 0; i < rows; ++i) {
    const auto& [name, figures] = profile.kernels[i];
    table.add({printable(demangle(name)), format_count(figures.calls),
               share(figures.calls, profile.launches.calls), format_duration_ns(figures.time_ns)});
  }
  return heading("Kernels", " by launches", options) + table.write(options) +
         more_text(rows, profile.kernels.size(), options);
}

// What ran there, where that was recorded.
std::string device_text(const GpuProfile& profile, const ReportOptions& options) {
  if (profile.on_device.empty()) return "";
  const size_t rows = rows_shown(options, kUsualRows, profile.on_device.size());
  TextTable table({{"kernel or copy", Side::kLeft, 0, kLeastName},
                   {"runs", Side::kRight, 2},
                   {"time"},
                   {"mean", Side::kRight, 1},
                   {"longest", Side::kRight, 3},
                   {"rate", Side::kRight, 2}});
  for (size_t i = 0; i < rows; ++i) {
    const auto& [name, figures] = profile.on_device[i];
    table.add({printable(demangle(name)), format_count(figures.calls),
               format_duration_ns(figures.time_ns),
               format_duration_ns(figures.time_ns / std::max<int64_t>(figures.calls, 1)),
               format_duration_ns(figures.longest_ns),
               figures.bytes > 0 ? rate_text(figures.bytes, figures.time_ns) : ""});
  }
  return heading("On the device", " by time there", options) + table.write(options) +
         more_text(rows, profile.on_device.size(), options);
}

// How fast bytes went is known of copies that waited; others only say that they were asked for.
std::string copies_text(const GpuProfile& profile, const ReportOptions& options) {
  if (profile.copies.empty()) return "";
  TextTable table({{"direction", Side::kLeft, 0, kLeastName},
                   {"copies", Side::kRight, 3},
                   {"bytes"},
                   {"time", Side::kRight, 1},
                   {"waited for", Side::kRight, 2},
                   {"rate"}});
  for (const auto& [name, figures] : profile.copies)
    table.add({printable(name), format_count(figures.all.calls), format_bytes(figures.all.bytes),
               format_duration_ns(figures.all.time_ns), bytes_text(figures.waited_bytes),
               rate_text(figures.waited_bytes, figures.waited_ns)});
  return heading("Copies", " by bytes; the rate is of those that waited", options) +
         table.write(options);
}

// Where it was allocated, innermost first; told where that was recorded.
std::string leaks_text(const GpuProfile& profile, const ReportOptions& options) {
  if (profile.leaked_by.empty()) return "";
  const size_t rows = rows_shown(options, kUsualRows, profile.leaked_by.size());
  TextTable table({{"bytes"}, {"allocations"}, {"allocated by", Side::kLeft, 0, kLeastName}});
  for (size_t i = 0; i < rows; ++i) {
    const auto& [name, figures] = profile.leaked_by[i];
    table.add({format_bytes(figures.bytes), format_count(figures.calls), printable(name)});
  }
  return heading("Not freed", " by bytes", options) + table.write(options) +
         more_text(rows, profile.leaked_by.size(), options);
}

std::string functions_text(const GpuProfile& profile, const ReportOptions& options) {
  if (profile.functions.empty()) return "";
  const size_t rows = rows_shown(options, kUsualRows, profile.functions.size());
  TextTable table({{"function", Side::kLeft, 0, kLeastName},
                   {"calls"},
                   {"time"},
                   {"mean", Side::kRight, 1},
                   {"median", Side::kRight, 4},
                   {"99 %", Side::kRight, 4},
                   {"longest", Side::kRight, 2},
                   {"bytes", Side::kRight, 1},
                   {"errors", Side::kRight, 3}});
  for (size_t i = 0; i < rows; ++i) {
    const auto& [name, figures] = profile.functions[i];
    const int64_t timed = figures.calls - figures.untimed;
    const auto latency = profile.latency.find(name);
    const auto percentile = [&](int percent) {
      return latency == profile.latency.end() ? ""
                                              : bound_text(latency->second.percentile(percent));
    };
    table.add({printable(name), format_count(figures.calls),
               timed > 0 ? format_duration_ns(figures.time_ns) : "",
               timed > 0 ? format_duration_ns(figures.time_ns / timed) : "", percentile(50),
               percentile(99), figures.longest_ns > 0 ? format_duration_ns(figures.longest_ns) : "",
               bytes_text(figures.bytes), figures.errors > 0 ? format_count(figures.errors) : ""});
  }
  return heading("Functions", " by time", options) + table.write(options) +
         more_text(rows, profile.functions.size(), options);
}

}  // namespace

Status write_gpu_report(const Recording& recording, const ReportOptions& options) {
  TRY_ASSIGN(const GpuProfile profile, load_gpu_profile(recording));
  std::string text =
      styled(Style::kHeading, fit(printable(profile.command), options.columns), options.colours) +
      "\n";
  LabelLines lines(options, text);
  add_head(profile, lines);
  add_memory(profile, lines);
  add_coverage(profile, lines);
  text += device_text(profile, options);
  text += kernels_text(profile, options);
  text += copies_text(profile, options);
  text += functions_text(profile, options);
  text += leaks_text(profile, options);
  return print_to(options.out, text);
}

}  // namespace fathom
