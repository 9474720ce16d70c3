// SPDX-License-Identifier: Apache-2.0
// Commands for the tests: one that runs a program, with every kind of flag, and one that takes
// files. Constant: any thread.
#pragma once

#include <array>

#include "cli/command.h"

namespace fathom {

inline constexpr Flag kSampleFlags[] = {
    {.name = "probe",
     .letter = 'p',
     .value = "LIST",
     .help = "probes to use",
     .repeatable = true,
     .list = true,
     .choices = "stacks io cuda"},
    {.name = "interval",
     .letter = 'i',
     .value = "TIME",
     .help = "between two readings [each]: it's so",
     .fallback = "100ms",
     .group = "Timing"},
    {.name = "env", .value = "NAME=VALUE", .help = "for the program", .repeatable = true},
    {.name = "quiet", .letter = 'q', .help = "no progress"},
    {.name = "output", .letter = 'o', .value = "FOLDER", .help = "where to", .completes = "folder"},
};
inline constexpr Positional kSamplePositionals[] = {
    {.name = "RUN", .help = "recordings", .repeatable = true, .completes = "run"},
    {.name = "SQL", .help = "a query"},
};

inline Result<int> run_nothing(const Arguments&) { return 7; }

inline constexpr Command kSampleRun = {
    .name = "run",
    .group = "Record",
    .summary = "Record: a 'program' [here]",
    .description = "A paragraph that\ngoes on.\n\n    .example -- one\n    'two \\n\n\nAnother.",
    .flags = kSampleFlags,
    .rest = Rest::kProgram,
    .run = run_nothing,
};
inline constexpr Command kSampleQuery = {
    .name = "query",
    .group = "Look",
    .summary = "Ask",
    .description = "Asks.",
    .flags = std::span(kSampleFlags).subspan(3, 1),
    .positionals = kSamplePositionals,
    .run = run_nothing,
};
inline constexpr std::array<const Command*, 2> kSampleCommands = {&kSampleRun, &kSampleQuery};

}  // namespace fathom
