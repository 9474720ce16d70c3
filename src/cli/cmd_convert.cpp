// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "cli/command.h"
#include "record/tables.h"

namespace fathom {
namespace {

Result<int> run_convert(const Arguments& arguments) {
  TRY_ASSIGN(const Recording recording, Recording::open(arguments.positional(0)));
  if (recording.form() == Recording::Form::kTables) return 0;
  if (recording.in_use()) {
    return Error{Code::kInvalid, recording.path() + " is still being recorded",
                 "convert it when the run has ended"};
  }
  TRY(convert_journal(recording));
  return 0;
}

constexpr Positional kPositionals[] = {
    {.name = "RUN", .help = "the recording, a folder NAME.fathom", .completes = "run"},
};

}  // namespace

extern constinit const Command kConvertCommand = {
    .name = "convert",
    .group = "Share",
    .summary = "Turn a journal into Parquet tables",
    .description =
        "Happens by itself at the end of a run. Needed where a run was recorded with --no-tables, "
        "where the "
        "table engine (libduckdb) was not installed, or after a recorder was killed. The journal "
        "is removed last: "
        "nothing is lost if this is interrupted.\n\n"
        "    fathom convert make-1.fathom",
    .positionals = kPositionals,
    .run = run_convert,
};

}  // namespace fathom
