// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>

#include "base/text.h"
#include "cli/command.h"
#include "cli/newest.h"
#include "cli/profile_sources.h"
#include "cli/report_output.h"
#include "report/report.h"

namespace fathom {
namespace {

// Flags that only some formats heed; ReportInfo::flags names them.
constexpr std::string_view kFlagsOfFormats[] = {
    "table", "event",    "process",   "thread",     "rate",     "from",
    "to",    "group-by", "limit",     "min-share",  "function", "lines",
    "width", "amounts",  "contained", "generation", "nodes"};

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

// What the name of a file chooses, where nothing else does: of one recording, and of stacks.
constexpr NamedFormat kFormatsOfRuns[] = {
    {".html", "html"}, {".svg", "flamegraph"},  {".md", "markdown"},
    {".json", "json"}, {".csv", "csv"},         {".folded", "folded"},
    {".pfw", "pfw"},   {".pftrace", "pftrace"}, {".prom", "openmetrics"}};
constexpr NamedFormat kFormatsOfStacks[] = {
    {".html", "flamegraph-html"}, {".svg", "flamegraph"}, {".folded", "folded"}};

// A page where the file that is to be written is named like one.
Result<const ReportInfo*> chosen_report(const Arguments& arguments,
                                        const std::vector<ProfileSource>& sources) {
  const bool folded = std::any_of(sources.begin(), sources.end(),
                                  [](const ProfileSource& source) { return !source.recording; });
  std::string name = arguments.text("as");
  const bool several = folded || sources.size() > 1;
  if (!arguments.has("as")) {
    const std::string output = arguments.text("output");
    if (several) {
      TRY_ASSIGN(name, format_of_name(output, kFormatsOfStacks, "top"));
    } else {
      TRY_ASSIGN(name, format_of_name(output, kFormatsOfRuns, name));
    }
  }
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

Result<int> run_report(const Arguments& arguments) {
  std::vector<std::string> names = arguments.positionals();
  if (names.empty()) {
    TRY_ASSIGN(names.emplace_back(), newest_recording("."));
  }
  TRY_ASSIGN(const std::vector<ProfileSource> sources, open_sources(names));
  TRY_ASSIGN(const ReportInfo* report, chosen_report(arguments, sources));
  ReportOptions options;
  TRY(read_report_flags(arguments, options));
  TRY(write_report(arguments, *report, sources, options));
  return 0;
}

constexpr Flag kReportFlags[] = {
    {.name = "as",
     .letter = 'a',
     .value = "FORMAT",
     .help = "what to write",
     .fallback = "summary",
     .completes = "format"},
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "write to this file instead of stdout, in the format of its name unless --as says "
             "which; packed if it ends in .gz",
     .completes = "file"},
    {.name = "table",
     .value = "TABLE",
     .help = "which table, for csv; fathom query --schema lists them",
     .fallback = "processes"},
    {.name = "nodes",
     .value = "FILE",
     .help = "for sizing: machines it may run on, as YAML (name, cpus, memory, gpus, disk)",
     .completes = "file"},
    {.name = "generation",
     .value = "N",
     .help =
         "of the format pfw: 0 as its README has it, 1 and 2 with other names, 3 and 4 with hashes",
     .fallback = "0",
     .choices = "0 1 2 3 4"},
    {.name = "event",
     .letter = 'e',
     .value = "NAME",
     .help = "samples of this event; else of the one with the most (top: simulated ones, too)",
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
     .help = "only what happened from this time after the start on",
     .group = "Stacks and I/O"},
    {.name = "to",
     .value = "TIME",
     .help = "only what happened before this time after the start",
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
    {.name = "width",
     .value = "SIDE",
     .help = "what boxes of a difference are as wide as",
     .fallback = "both",
     .choices = "both before after",
     .group = "Differences"},
    {.name = "amounts", .help = "compare amounts, not shares of each side", .group = "Differences"},
    {.name = "contained",
     .value = "WHETHER",
     .help = "whether one side contains the samples of the other, which are then subtracted",
     .fallback = "auto",
     .choices = "auto yes no",
     .group = "Differences"},
    {.name = "function",
     .letter = 'f',
     .value = "NAME",
     .help = "for callers: the name, with or without its arguments, else a part of it",
     .group = "Stacks"},
};
constexpr Positional kReportPositionals[] = {
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
        "    fathom report make-1.fathom --as io --process cc1plus\n"
        "    fathom report make-1.fathom --as pfw -o make.pfw.gz\n\n"
        "Where it was run to find out what it needs:\n\n"
        "    fathom report app-1.fathom --as sizing --nodes nodes.yaml\n"
        "    fathom report app-1.fathom --as plot -o app.svg\n\n"
        "On a terminal, html writes RUN.html and flamegraph RUN.svg beside the recording and print "
        "its name. callers takes all functions of exactly the name together; where there is none, "
        "those of that name "
        "without arguments; else those that contain it. The interval beside a share is the 95 % "
        "one of its samples' number. Names are cut to fit a terminal and stay whole in a file or "
        "a pipe. In folded, _[k] behind a name marks a function of the kernel, _[i] an inlined "
        "one and _[j] one of Java.",
    .flags = kReportFlags,
    .positionals = kReportPositionals,
    .run = run_report,
};

}  // namespace fathom
