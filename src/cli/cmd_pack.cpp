// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/newest.h"
#include "record/column.h"
#include "record/pack.h"
#include "record/recording.h"

namespace fathom {
namespace {

// An archive is what a damaged recording is made whole from: none is made of, or replaced by, one.
Status check_tables(const Recording& recording) {
  for (const TableColumns& table : all_tables()) {
    auto checked = recording.check_table(table.name);
    if (!checked.ok() && checked.error().code != Code::kCorrupt) return checked;
  }
  if (recording.damaged_tables().empty()) return {};
  return Error{Code::kCorrupt, recording.path() + ": " + recording.damage(),
               "nothing was packed, tar does it as it is; " + recording.remedy()};
}

Result<int> run_pack(const Arguments& arguments) {
  TRY_ASSIGN(const Recording recording, open_recording(arguments.positional(0)));
  const std::string& folder = recording.path();
  const std::string file = arguments.has("output") ? arguments.text("output") : packed_name(folder);
  TRY(check_tables(recording));
  TRY(pack_recording(folder, file, arguments.has("force") ? Overwrite::kYes : Overwrite::kNo));
  TRY(print_out(file + "\n"));
  return 0;
}

constexpr Flag kPackFlags[] = {
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "write here instead of NAME.fathom.tar in the current folder",
     .completes = "file"},
    {.name = "force", .letter = 'f', .help = "replace the file if it exists"},
};
constexpr Positional kPackPositionals[] = {
    {.name = "RUN", .help = "the recording, a folder NAME.fathom", .completes = "run"},
};

}  // namespace

extern constinit const Command kPackCommand = {
    .name = "pack",
    .group = "Share",
    .summary = "Make one file of a recording, to send or keep",
    .description =
        "Writes a plain tar archive, which `fathom unpack` and every tar read, and prints its "
        "name. "
        "The tables in a recording are compressed already. The file appears under its name when it "
        "is whole.\n\n"
        "    fathom pack make-1.fathom\n"
        "    fathom pack make-1.fathom -o /media/usb/monday.fathom.tar",
    .flags = kPackFlags,
    .positionals = kPackPositionals,
    .run = run_pack,
};

}  // namespace fathom
