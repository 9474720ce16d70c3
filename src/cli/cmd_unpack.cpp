// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"
#include "cli/command.h"
#include "record/pack.h"

namespace fathom {
namespace {

Result<int> run_unpack(const Arguments& arguments) {
  TRY_ASSIGN(const std::string folder,
             unpack_recording(arguments.positional(0), arguments.text("output")));
  TRY(print_out(folder + "\n"));
  return 0;
}

constexpr Flag kFlags[] = {
    {.name = "output",
     .letter = 'o',
     .value = "FOLDER",
     .help = "the recording's new folder, instead of the name in the archive",
     .completes = "folder"},
};
constexpr Positional kPositionals[] = {
    {.name = "FILE", .help = "an archive made by `fathom pack`", .completes = "file"},
};

}  // namespace

extern constinit const Command kUnpackCommand = {
    .name = "unpack",
    .group = "Share",
    .summary = "Make a recording of a packed file again",
    .description =
        "Checks the whole archive first, then writes the recording and prints its folder. Never "
        "writes outside that folder and never touches a recording that exists.\n\n"
        "    fathom unpack make-1.fathom.tar\n"
        "    fathom unpack make-1.fathom.tar -o theirs.fathom",
    .flags = kFlags,
    .positionals = kPositionals,
    .run = run_unpack,
};

}  // namespace fathom
