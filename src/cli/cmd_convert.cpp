// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "base/log.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/newest.h"
#include "record/tables.h"

namespace fathom {
namespace {

Result<int> run_convert(const Arguments& arguments) {
  TRY_ASSIGN(const Recording recording, open_recording(arguments.positional(0)));
  if (recording.form() == Recording::Form::kTables) {
    TRY(print_out(recording.path() + " has tables already\n"));
    return 0;
  }
  if (recording.in_use()) {
    return Error{Code::kUnsupported, recording.path() + " is still being recorded",
                 "convert it when the run has ended"};
  }
  TRY(convert_journal(recording));
  const std::filesystem::path path(recording.path());
  const bool is_folder = std::filesystem::is_directory(path);  // not the journal in it
  TRY_ASSIGN(const Recording converted,
             Recording::open(is_folder ? path : path.parent_path() / "."));
  int64_t rows = 0;
  for (const auto& [table, count] : converted.written_tables()) rows += count;
  TRY(print_out(fmt::format("{}: {} rows in {} tables, made from a journal of {}\n",
                            recording.path(), format_count(rows), converted.written_tables().size(),
                            format_bytes(recording.journal()->health().file_bytes))));
  if (const std::string damage = recording.damage(); !damage.empty())
    log_warning("{}: {}", recording.path(), damage);
  return 0;
}

constexpr Positional kConvertPositionals[] = {
    {.name = "RUN", .help = "the recording, a folder NAME.fathom", .completes = "run"},
};

}  // namespace

extern constinit const Command kConvertCommand = {
    .name = "convert",
    .group = "Share",
    .summary = "Turn a journal into Parquet tables",
    .description =
        "For programs that read Parquet. All commands of fathom also read the journal. `fathom "
        "run` "
        "makes the tables of a journal above 4 MB, and with --tables those of any. The journal is "
        "removed last: nothing is lost if this is interrupted.\n\n"
        "    fathom convert make-1.fathom",
    .positionals = kConvertPositionals,
    .run = run_convert,
};

}  // namespace fathom
