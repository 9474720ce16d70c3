// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/text_style.h"
#include "cli/command.h"
#include "cli/newest.h"
#include "cli/terminal.h"
#include "report/report.h"

namespace fathom {
namespace {

Result<int> run_report(const Arguments& arguments) {
  std::string path = arguments.positional(0);
  if (path.empty()) {
    TRY_ASSIGN(path, newest_recording("."));
  }
  TRY_ASSIGN(const ReportInfo* report, find_report(arguments.text("as")));
  if (arguments.has("table") && std::string_view(report->name) != "csv") {
    return Error{Code::kInvalid, "--table goes with --as csv",
                 "fathom report RUN --as csv --table " + arguments.text("table")};
  }
  TRY_ASSIGN(const Recording recording, open_recording(path));
  ReportOptions options;
  options.table = arguments.text("table");
  options.columns = terminal_columns(STDOUT_FILENO);
  options.colours = colours_wanted(STDOUT_FILENO);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(nullptr, std::fclose);
  if (arguments.has("output")) {
    file.reset(std::fopen(arguments.text("output").c_str(), "we"));
    if (!file) return errno_error("open " + arguments.text("output"));
    options.out = file.get();
    options.colours = false;
  }
  TRY(report->write(recording, options));
  if (std::fflush(options.out) != 0) return errno_error("write the report");
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
        "    fathom report make-1.fathom --as json\n"
        "    fathom report make-1.fathom --as csv --table gauges -o gauges.csv",
    .flags = kFlags,
    .positionals = kPositionals,
    .run = run_report,
};

}  // namespace fathom
