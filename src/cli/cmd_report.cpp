// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <memory>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "base/text_style.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/newest.h"
#include "cli/profile_sources.h"
#include "cli/terminal.h"
#include "report/report.h"

namespace fathom {
namespace {

// Flags that only some formats heed; ReportInfo::flags names them.
constexpr std::string_view kFlagsOfFormats[] = {"table", "event",     "process",  "thread",
                                                "rate",  "from",      "to",       "group-by",
                                                "limit", "min-share", "function", "lines"};

bool heeds(const ReportInfo& report, std::string_view flag) {
  for (const std::string_view known : split_words(report.flags)) {
    if (known == flag) return true;
  }
  return false;
}

Status check_flags(const ReportInfo& report, const Arguments& arguments) {
  for (const std::string_view flag : kFlagsOfFormats) {
    if (!arguments.has(flag) || heeds(report, flag)) continue;
    std::string formats, first;
    for (const ReportInfo& other : all_reports()) {
      if (!heeds(other, flag)) continue;
      formats += (formats.empty() ? "" : ", ") + std::string(other.name);
      if (first.empty()) first = other.name;
    }
    return Error{
        Code::kInvalid, fmt::format("--{} goes with --as {}", flag, formats),
        fmt::format("fathom report RUN --as {} --{}{}", first, flag,
                    arguments.text(flag).empty() ? "" : " " + shell_quote(arguments.text(flag)))};
  }
  return {};
}

GroupBy group_by_from(std::string_view name) {
  if (name == "host") return GroupBy::kHost;
  if (name == "process") return GroupBy::kProcess;
  if (name == "thread") return GroupBy::kThread;
  if (name == "rank") return GroupBy::kRank;
  return name == "config" ? GroupBy::kConfig : GroupBy::kNone;
}

Status read_stack_flags(const Arguments& arguments, ReportOptions& options) {
  options.filter.event = arguments.text("event");
  options.filter.process = arguments.text("process");
  options.filter.thread = arguments.text("thread");
  options.filter.lines = arguments.has("lines");
  options.function = arguments.text("function");
  options.filter.group_by = group_by_from(arguments.text("group-by"));
  if (arguments.has("rate")) {
    TRY_ASSIGN(options.filter.rate_hz, arguments.number("rate"));
  }
  if (arguments.has("from")) {
    TRY_ASSIGN(options.filter.from_ns, arguments.duration("from"));
  }
  if (arguments.has("to")) {
    TRY_ASSIGN(options.filter.to_ns, arguments.duration("to"));
  }
  if (options.filter.from_ns && options.filter.to_ns &&
      *options.filter.from_ns >= *options.filter.to_ns) {
    return Error{Code::kInvalid,
                 fmt::format("--from {} is not before --to {}", arguments.text("from"),
                             arguments.text("to")),
                 "both are times after the start: --from 1s --to 2500ms"};
  }
  if (arguments.has("limit")) {
    TRY_ASSIGN(const int64_t limit, arguments.number("limit"));
    if (limit < 0) return Error{Code::kInvalid, "--limit is a number of rows; 0 shows all"};
    options.limit = static_cast<size_t>(limit);
  }
  TRY_ASSIGN(const double percent, arguments.real("min-share"));
  if (!(percent >= 0 && percent <= 100))
    return Error{Code::kInvalid, "--min-share is a percentage from 0 to 100"};
  options.min_share = percent / 100;
  return {};
}

// Where a picture goes that was asked for on a terminal: beside what it is of, in place of an
// earlier one but of no other file.
Result<std::string> picture_path(const std::string& source, const ReportInfo& report) {
  const std::string path = source_name(source) + report.extension;
  const auto start = read_start(path, 256);
  if (start.ok() && start.value().find(report.mark) == std::string::npos) {
    return Error{Code::kExists, path + " is there and not made by fathom",
                 "choose another name: fathom report " + shell_quote(source) + " --as " +
                     report.name + " -o FILE" + report.extension};
  }
  return path;
}

// A page where the file that is to be written is named like one.
Result<const ReportInfo*> chosen_report(const Arguments& arguments,
                                        const std::vector<ProfileSource>& sources) {
  const bool folded = std::any_of(sources.begin(), sources.end(),
                                  [](const ProfileSource& source) { return !source.recording; });
  std::string name = arguments.text("as");
  if (!arguments.has("as") && (folded || sources.size() > 1)) name = "top";
  TRY_ASSIGN(const ReportInfo* report, find_report(name));
  if (report->page != nullptr && arguments.text("output").ends_with(".html")) {
    TRY_ASSIGN(report, find_report(report->page));
  }
  TRY(check_flags(*report, arguments));
  if (report->write_all != nullptr || (!folded && sources.size() == 1)) return report;
  std::string formats;
  for (const ReportInfo& other : all_reports()) {
    if (other.write_all != nullptr)
      formats += (formats.empty() ? "" : ", ") + std::string(other.name);
  }
  return Error{Code::kInvalid,
               std::string(report->name) +
                   (folded ? " is of a recording, not of folded stacks" : " is of one recording"),
               "of several, and of folded stacks, are: " + formats};
}

Status write_report(const ReportInfo& report, const std::vector<ProfileSource>& sources,
                    const ReportOptions& options) {
  if (report.write_all != nullptr) return report.write_all(sources, options);
  return report.write(*sources.front().recording, options);
}

Result<int> run_report(const Arguments& arguments) {
  std::vector<std::string> names = arguments.positionals();
  if (names.empty()) {
    TRY_ASSIGN(names.emplace_back(), newest_recording("."));
  }
  TRY_ASSIGN(const std::vector<ProfileSource> sources, open_sources(names));
  TRY_ASSIGN(const ReportInfo* report, chosen_report(arguments, sources));
  ReportOptions options;
  TRY(read_stack_flags(arguments, options));
  std::string aside;
  options.aside = &aside;
  options.table = arguments.text("table");
  options.columns = isatty(STDOUT_FILENO) != 0 ? terminal_columns(STDOUT_FILENO) : kAnyWidth;
  options.colours = colours_wanted(STDOUT_FILENO);
  std::string output = arguments.text("output");
  const bool beside = output.empty() && report->extension != nullptr && isatty(STDOUT_FILENO) != 0;
  if (beside) {
    TRY_ASSIGN(output, picture_path(sources.front().path, *report));
  }
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(nullptr, std::fclose);
  if (!output.empty()) {
    file.reset(std::fopen(output.c_str(), "we"));
    if (!file) return errno_error("open " + output);
    options.out = file.get();
    options.columns = kAnyWidth;
    options.colours = false;
  }
  TRY(write_report(*report, sources, options));
  if (std::fflush(options.out) != 0) return errno_error("write the report");
  if (!aside.empty()) log_info("{}", aside);
  if (beside) {
    TRY(print_out(output + "\n"));
  }
  return 0;
}

constexpr Flag kFlags[] = {
    {.name = "as",
     .letter = 'a',
     .value = "FORMAT",
     .help = "what to write",
     .fallback = "summary",
     .completes = "format"},
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "write to this file instead of stdout",
     .completes = "file"},
    {.name = "table",
     .value = "TABLE",
     .help = "which table, for csv; fathom query --schema lists them",
     .fallback = "processes"},
    {.name = "event",
     .letter = 'e',
     .value = "NAME",
     .help = "samples of this event; else of the one with the most",
     .group = "Stacks"},
    {.name = "process",
     .letter = 'p',
     .value = "NAME",
     .help = "only samples or calls of the process of this name or pid",
     .group = "Stacks and I/O"},
    {.name = "thread",
     .letter = 't',
     .value = "NAME",
     .help = "only samples or calls of the thread of this name or id",
     .group = "Stacks and I/O"},
    {.name = "rate",
     .value = "HZ",
     .help = "only samples of this rate, where several were recorded",
     .group = "Stacks"},
    {.name = "from",
     .value = "TIME",
     .help = "only samples or calls from this time after the start on",
     .group = "Stacks and I/O"},
    {.name = "to",
     .value = "TIME",
     .help = "only samples or calls before this time after the start",
     .group = "Stacks and I/O"},
    {.name = "lines",
     .help = "each function by source line, where fathom run --lines recorded them",
     .group = "Stacks"},
    {.name = "group-by",
     .value = "WHAT",
     .help = "put this below everything else; config: the label of each run",
     .choices = "host process thread rank config",
     .group = "Stacks"},
    {.name = "limit",
     .letter = 'n',
     .value = "N",
     .help = "rows of top, callers and io; 0 shows all",
     .group = "Stacks and I/O"},
    {.name = "min-share",
     .value = "PERCENT",
     .help = "what tree leaves out: calls with less of the samples",
     .fallback = "1",
     .group = "Stacks"},
    {.name = "function",
     .letter = 'f',
     .value = "NAME",
     .help = "for callers: the name, with or without its arguments, else a part of it",
     .group = "Stacks"},
};
constexpr Positional kPositionals[] = {
    {.name = "RUN",
     .help =
         "the recording; else the newest in this folder. Reports about stacks take several, also "
         "files of folded stacks (- is standard input), with a label as LABEL=RUN",
     .repeatable = true,
     .optional = true,
     .completes = "run"},
};

}  // namespace

extern constinit const Command kReportCommand = {
    .name = "report",
    .group = "Look",
    .summary = "Show what a recording says, on the terminal or in a format",
    .description =
        "Reads a finished recording, one whose recorder was killed, or one that is still being "
        "written, and says "
        "what is missing.\n\n"
        "    fathom report\n"
        "    fathom report make-1.fathom --as html -o make.html\n"
        "    fathom report make-1.fathom --as markdown\n"
        "    fathom report make-1.fathom --as json\n"
        "    fathom report make-1.fathom --as csv --table gauges -o gauges.csv\n\n"
        "Where samples of stacks were recorded or imported:\n\n"
        "    fathom report make-1.fathom --as flamegraph -o make.svg\n"
        "    fathom report make-1.fathom --as top --process cc1plus\n"
        "    fathom report make-1.fathom --as callers --function malloc\n\n"
        "Of several runs together, of files of folded stacks, and by configuration:\n\n"
        "    fathom report a.fathom b.fathom --as top\n"
        "    fathom report out.folded --as flamegraph -o out.svg\n"
        "    fathom report old=a.fathom new=b.fathom --as tree --group-by config\n\n"
        "Where calls were recorded (fathom run --probe io):\n\n"
        "    fathom report make-1.fathom --as io --process cc1plus\n\n"
        "On a terminal, html writes RUN.html and flamegraph RUN.svg beside the recording and print "
        "its name. callers takes all functions of exactly the name together; where there is none, "
        "those of that name "
        "without arguments; else those that contain it. The interval beside a share is the 95 % "
        "one of its samples' number. Names are cut to fit a terminal and stay whole in a file or "
        "a pipe. In folded, _[k] behind a name marks a function of the kernel, _[i] an inlined "
        "one and _[j] one of Java.",
    .flags = kFlags,
    .positionals = kPositionals,
    .run = run_report,
};

}  // namespace fathom
