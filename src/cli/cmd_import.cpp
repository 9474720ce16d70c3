// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "import/importer.h"
#include "record/recording.h"
#include "session/folder.h"
#include "session/session.h"

namespace fathom {
namespace {

Run run_row(RecordStream& out, const std::string& file, const char* format) {
  Run run;
  run.id = out.string(new_run_id());
  run.label = out.string(std::filesystem::path(file).filename().string());
  run.command = out.string("import " + shell_quote(file));
  run.launcher = out.string(std::string("import ") + format);
  run.version = out.string(kVersion);
  run.start_ns = monotonic_ns();
  return run;
}

Result<ImportCounts> import_into(const std::string& folder, const std::string& file,
                                 const ImporterInfo& importer) {
  TRY_ASSIGN(const auto sink, open_sink("file", folder + "/" + kJournalName));
  RecordStream out(*sink);
  Run run = run_row(out, file, importer.name);
  out.add(run);
  TRY_ASSIGN(const ImportCounts counts, importer.read(file, out));
  if (counts.range) {  // else its length is not known
    run.start_ns = counts.range->first;
    run.end_ns = counts.range->second;
    if (counts.has_real_time) run.real_offset_ns = real_offset_ns();
  }
  run.records = out.records() + 1;
  out.add(run);
  TRY(out.close());
  if (const SinkReport report = out.report(); report.error) return *report.error;
  return counts;
}

Result<int> run_import(const Arguments& arguments) {
  const std::string file = arguments.positional(0);
  TRY_ASSIGN(const ImporterInfo* importer, find_importer(arguments.text("format"), file));
  TRY_ASSIGN(const std::string folder, make_run_folder(arguments.text("output"), {file}));
  auto counts = import_into(folder, file, *importer);
  if (!counts.ok()) {
    drop_run_folder(folder);
    return std::move(counts).error();
  }
  if (counts.value().skipped > 0) {
    const int64_t first = counts.value().first_skipped;
    log_warning("{} lines of {} were not understood and are left out{}",
                format_count(counts.value().skipped), file,
                first > 0 ? "; the first is line " + format_count(first) : "");
  }
  if (auto made = make_tables(folder); !made.ok()) log_failure(made.error(), LogLevel::kWarning);
  TRY(print_out(folder + "\n"));
  return 0;
}

constexpr Flag kImportFlags[] = {
    {.name = "format",
     .letter = 'f',
     .value = "FORMAT",
     .help = "what the file is, if its first bytes do not tell",
     .completes = "foreign-format"},
    {.name = "output",
     .letter = 'o',
     .value = "NAME",
     .help = "write NAME.fathom; else FILE-1.fathom, FILE-2.fathom",
     .completes = "file"},
};
constexpr Positional kImportPositionals[] = {
    {.name = "FILE", .help = "the file to read", .completes = "file"},
};

}  // namespace

extern constinit const Command kImportCommand = {
    .name = "import",
    .group = "Share",
    .summary = "Make a recording from another tool's file",
    .description =
        "Reads folded stacks (\"main;work;read 17\") as flame-graph scripts write them, and prints "
        "the name "
        "of the recording it made. The usual suffixes _[k], _[i] and _[j] mark functions of the "
        "kernel, inlined ones and those of Java. Also reads the calls of a .pfw or .pfw.gz of any "
        "generation, and the spool of a program that was killed.\n\n"
        "    fathom import out.folded\n"
        "    fathom import profile.pfw.gz\n"
        "    fathom query out.folded-1.fathom 'select sum(weight) from samples'",
    .flags = kImportFlags,
    .positionals = kImportPositionals,
    .run = run_import,
};

}  // namespace fathom
