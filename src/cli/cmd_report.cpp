// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <fmt/format.h>
#include <memory>

#include "base/fd.h"
#include "base/gzip.h"
#include "base/log.h"
#include "base/text.h"
#include "base/text_style.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/newest.h"
#include "cli/terminal.h"
#include "report/report.h"

namespace fathom {
namespace {

// Flags that only some formats heed; ReportInfo::flags names them.
constexpr std::string_view kFlagsOfFormats[] = {"table",    "event", "process",   "thread",
                                                "from",     "to",    "limit",     "min-share",
                                                "function", "lines", "generation"};

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

Status read_stack_flags(const Arguments& arguments, ReportOptions& options) {
  options.filter.event = arguments.text("event");
  options.filter.process = arguments.text("process");
  options.filter.thread = arguments.text("thread");
  options.filter.lines = arguments.has("lines");
  options.function = arguments.text("function");
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
  options.generation = arguments.text("generation")[0] - '0';  // one of its choices
  return {};
}

// A file that ends in .gz is packed.
Result<std::FILE*> create_output(const std::string& path) {
  if (path.ends_with(".gz")) return create_gzip(path);
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return errno_error("open " + path);
  return file;
}

// Where a picture goes that was asked for on a terminal: beside the recording, in place of an
// earlier one but of no other file.
Result<std::string> picture_path(const Recording& recording, const ReportInfo& report) {
  std::string path = recording.path();
  if (path.ends_with(kFolderSuffix))
    path.resize(path.size() - std::string_view(kFolderSuffix).size());
  path += report.extension;
  const auto start = read_start(path, 256);
  if (start.ok() && start.value().find(report.mark) == std::string::npos) {
    return Error{Code::kExists, path + " is there and not made by fathom",
                 "choose another name: fathom report " + shell_quote(recording.path()) + " --as " +
                     report.name + " -o FILE" + report.extension};
  }
  return path;
}

Result<int> run_report(const Arguments& arguments) {
  std::string path = arguments.positional(0);
  if (path.empty()) {
    TRY_ASSIGN(path, newest_recording("."));
  }
  TRY_ASSIGN(const ReportInfo* report, find_report(arguments.text("as")));
  TRY(check_flags(*report, arguments));
  ReportOptions options;
  TRY(read_stack_flags(arguments, options));
  TRY_ASSIGN(const Recording recording, open_recording(path));
  std::string aside;
  options.aside = &aside;
  options.table = arguments.text("table");
  options.columns = isatty(STDOUT_FILENO) != 0 ? terminal_columns(STDOUT_FILENO) : kAnyWidth;
  options.colours = colours_wanted(STDOUT_FILENO);
  std::string output = arguments.text("output");
  const bool beside = output.empty() && report->extension != nullptr && isatty(STDOUT_FILENO) != 0;
  if (beside) {
    TRY_ASSIGN(output, picture_path(recording, *report));
  }
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(nullptr, std::fclose);
  if (!output.empty()) {
    TRY_ASSIGN(std::FILE * created, create_output(output));
    file.reset(created);
    options.out = file.get();
    options.columns = kAnyWidth;
    options.colours = false;
  }
  TRY(report->write(recording, options));
  if (std::fflush(options.out) != 0) return errno_error("write the report");
  if (file && std::fclose(file.release()) != 0) return errno_error("write " + output);
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
     .help = "write to this file instead of stdout; packed if it ends in .gz",
     .completes = "file"},
    {.name = "table",
     .value = "TABLE",
     .help = "which table, for csv; fathom query --schema lists them",
     .fallback = "processes"},
    {.name = "generation",
     .value = "N",
     .help =
         "of the format pfw: 0 as its README has it, 1 and 2 with other names, 3 and 4 with hashes",
     .fallback = "0",
     .choices = "0 1 2 3 4"},
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
     .help = "the recording; else the newest in this folder",
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
        "Where calls were recorded (fathom run --probe io):\n\n"
        "    fathom report make-1.fathom --as io --process cc1plus\n"
        "    fathom report make-1.fathom --as pfw -o make.pfw.gz\n\n"
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
