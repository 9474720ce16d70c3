// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "cli/command.h"
#include "cli/profile_sources.h"
#include "cli/report_output.h"
#include "report/report.h"

namespace fathom {
namespace {

// BEFORE AFTER, or --base for each before and all that is named for after.
Result<std::vector<ProfileSource>> both_sides(const Arguments& arguments) {
  std::vector<std::string> before = arguments.texts("base"), after = arguments.positionals();
  if (before.empty()) {
    if (after.size() != 2) {
      return Error{
          Code::kInvalid,
          after.size() < 2 ? "a difference is of two runs" : "which of these runs were before?",
          after.size() < 2 ? "fathom diff BEFORE AFTER"
                           : "fathom diff --base BEFORE1 --base BEFORE2 AFTER1 AFTER2"};
    }
    before.push_back(after.front());
    after.erase(after.begin());
  }
  if (after.empty()) {
    return Error{Code::kInvalid, "nothing to compare --base with",
                 "fathom diff --base BEFORE AFTER"};
  }
  TRY_ASSIGN(std::vector<ProfileSource> sources, open_sources(before, 0));
  TRY_ASSIGN(std::vector<ProfileSource> others, open_sources(after, 1));
  for (ProfileSource& other : others) sources.push_back(std::move(other));
  return sources;
}

constexpr NamedFormat kFormats[] = {
    {".html", "html"}, {".svg", "flamegraph"}, {".json", "json"}, {".folded", "folded"}};

Result<std::string> format_from(const Arguments& arguments) {
  std::string format = arguments.text("as");
  if (!arguments.has("as")) {
    TRY_ASSIGN(format, format_of_name(arguments.text("output"), kFormats, format));
  }
  return format == "table" ? "diff" : "diff-" + format;
}

Result<int> run_diff(const Arguments& arguments) {
  TRY_ASSIGN(const std::string format, format_from(arguments));
  TRY_ASSIGN(const ReportInfo* report, find_report(format));
  TRY_ASSIGN(const std::vector<ProfileSource> sources, both_sides(arguments));
  ReportOptions options;
  TRY(read_report_flags(arguments, options));
  TRY(write_report(arguments, *report, sources, options));
  return 0;
}

constexpr Flag kDiffFlags[] = {
    {.name = "as",
     .letter = 'a',
     .value = "FORMAT",
     .help = "what to write; -o NAME.svg and NAME.html say it as well",
     .fallback = "table",
     .choices = "table flamegraph icicle html folded json"},
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "write to this file instead of stdout",
     .completes = "file"},
    {.name = "base",
     .letter = 'b',
     .value = "RUN",
     .help = "one of the runs before; all that are named without it are after",
     .repeatable = true,
     .completes = "run"},
    {.name = "amounts", .help = "compare amounts, such as CPU time, not shares of each side"},
    {.name = "contained",
     .value = "WHETHER",
     .help = "whether one side contains the samples of the other, which are then subtracted",
     .fallback = "auto",
     .choices = "auto yes no"},
    {.name = "width",
     .value = "SIDE",
     .help = "what boxes are as wide as; both shows what appeared and what vanished",
     .fallback = "both",
     .choices = "both before after"},
    {.name = "limit", .letter = 'n', .value = "N", .help = "rows of the table; 0 shows all"},
    {.name = "event",
     .letter = 'e',
     .value = "NAME",
     .help = "samples of this event; else of the one with the most",
     .group = "Samples"},
    {.name = "process",
     .letter = 'p',
     .value = "NAME",
     .help = "only samples of the process of this name or pid",
     .group = "Samples"},
    {.name = "thread",
     .letter = 't',
     .value = "NAME",
     .help = "only samples of the thread of this name or id",
     .group = "Samples"},
    {.name = "rate", .value = "HZ", .help = "only samples of this rate", .group = "Samples"},
    {.name = "from",
     .value = "TIME",
     .help = "only samples from this time after the start on",
     .group = "Samples"},
    {.name = "to",
     .value = "TIME",
     .help = "only samples before this time after the start",
     .group = "Samples"},
    {.name = "lines",
     .help = "each function by source line, where they were recorded",
     .group = "Samples"},
};
constexpr Positional kDiffPositionals[] = {
    {.name = "RUN",
     .help = "a recording or a file of folded stacks, with a label as LABEL=RUN: two, or with "
             "--base all that are after",
     .repeatable = true,
     .completes = "run"},
};

}  // namespace

extern constinit const Command kDiffCommand = {
    .name = "diff",
    .group = "Look",
    .summary = "Show where two runs or sets of runs differ in their stacks",
    .description =
        "Compares the stacks of two recordings or files of folded stacks: a table of functions, "
        "what has changed first, or a flame graph in which red is more, blue is less and grey is "
        "no more than chance.\n\n"
        "    fathom diff old.fathom new.fathom\n"
        "    fathom diff old.fathom new.fathom -o diff.svg\n"
        "    fathom diff old.fathom new.fathom -o diff.html\n"
        "    fathom diff --base old-1 --base old-2 new-1 new-2\n\n"
        "A change stands beside its 95 % interval. With several runs a side the interval is as "
        "wide "
        "as these differ among themselves; with one it knows only the chance of sampling. What is "
        "called a difference is so at 5 % for all that is compared together. Runs with different "
        "labels are configurations, not repetitions. If one side contains the other, such as all "
        "configurations together and one of them, that one is compared with the rest.",
    .flags = kDiffFlags,
    .positionals = kDiffPositionals,
    .run = run_diff,
};

}  // namespace fathom
