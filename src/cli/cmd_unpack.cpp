// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"
#include "cli/command.h"
#include "record/pack.h"
#include "session/folder.h"

namespace fathom {
namespace {

Result<int> run_unpack(const Arguments& arguments) {
  std::string wanted = arguments.text("output");
  if (!wanted.empty()) wanted = run_folder_name(wanted);
  TRY_ASSIGN(const std::string folder, unpack_recording(arguments.positional(0), wanted));
  TRY(print_out(folder + "\n"));
  return 0;
}

constexpr Flag kUnpackFlags[] = {
    {.name = "output",
     .letter = 'o',
     .value = "NAME",
     .help = "unpack into NAME.fathom, instead of the name in the archive",
     .completes = "file"},
};
constexpr Positional kUnpackPositionals[] = {
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
        "    fathom unpack make-1.fathom.tar -o theirs",
    .flags = kUnpackFlags,
    .positionals = kUnpackPositionals,
    .run = run_unpack,
};

}  // namespace fathom
