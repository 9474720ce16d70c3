// SPDX-License-Identifier: Apache-2.0
// What a command of the command line is: data. Parsing, --help, the shell completions and the
// manual page are made from it and know nothing else. A command lives in its own cmd_NAME.cpp as
// `extern constinit const Command kNameCommand = {…}` and stands as one line in all_commands.cpp.
// Constants: any thread.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "cli/arguments.h"

namespace fathom {

struct Flag {
  const char* name = nullptr;       // "interval" for --interval
  char letter = 0;                  // 'i' for -i; 0: none
  const char* value = nullptr;      // placeholder such as "TIME"; nullptr: a switch
  const char* help = nullptr;       // a phrase without a full stop
  const char* fallback = nullptr;   // the value where none is given
  bool repeatable = false;          // may stand several times; else the last one counts
  bool list = false;                // a value may be several, with commas between
  const char* choices = nullptr;    // the only values there are, with spaces between
  const char* completes = nullptr;  // what the shell offers; see complete.h
  const char* group = nullptr;      // heading in --help; nullptr: "Flags"
};

struct Positional {
  const char* name = nullptr;  // "RUN"
  const char* help = nullptr;
  bool repeatable = false;
  bool optional = false;
  const char* choices = nullptr;
  const char* completes = nullptr;
};

// kProgram: everything from the first word that is no flag, or after "--", is somebody else's
// command line and stays as it is. The exit status is that program's: whatever fails of our own,
// the command line too, is kExitOurs, as with env(1), timeout(1) and docker(1).
enum class Rest { kNone, kProgram };

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;   // the command line, or a value in it, is wrong: Code::kInvalid
constexpr int kExitOurs = 125;  // either of them, for Rest::kProgram

struct Command {
  const char* name = nullptr;
  const char* group = nullptr;    // heading in the list of commands
  const char* summary = nullptr;  // one line
  const char* description =
      nullptr;  // paragraphs, an empty line between; indented lines stay as they are
  std::span<const Flag> flags = {};
  std::span<const Positional> positionals = {};
  Rest rest = Rest::kNone;
  // Returns the exit status. An error is logged once by the caller, and exits as above.
  Result<int> (*run)(const Arguments& arguments) = nullptr;
  bool hidden = false;  // works, but no list shows it
};

using CommandTable = std::span<const Command* const>;

// --help, --version, --verbose, --no-color: before the command or among its flags.
std::span<const Flag> global_flags();

// By long name, the command's own first, then the global ones; nullptr: there is none.
const Flag* find_flag(const Command& command, std::string_view name);
const Flag* find_flag(const Command& command, char letter);
const Command* find_command(CommandTable commands, std::string_view name);

}  // namespace fathom
