// SPDX-License-Identifier: Apache-2.0
// How reports about stacks word things: figures, names and the lines above them. Pure functions:
// any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/profile.h"
#include "report/report.h"

namespace fathom {

// "12,345 samples of cpu-clock at 99 Hz", "14.2 s", …: what the profile was made of.
std::vector<std::string> profile_facts(const Profile& profile);
// One line each on what the reader must know: how the stacks ended, other events, damage.
std::vector<std::string> profile_notes(const Profile& profile);
// Command, facts, notes and what their words mean above a table for a terminal, no line wider than
// the terminal.
std::string profile_heading(const Profile& profile, const ReportOptions& options);

// "1,234 samples", "1.2 s" or "1,234 cycles".
std::string weight_text(const Profile& profile, int64_t weight);

// "kernel", "inlined", …: nothing for ordinary code.
std::string_view kind_text(const Function& function);
// The file's name without its folders.
std::string_view module_name(std::string_view module);

// A name with what stands in <> and () left out: "map<…>::find(…)". The name itself where the
// brackets do not match.
std::string shorten_name(std::string_view name);
// The name in so many columns: as it is, else shortened, else cut. A source line behind it stays.
std::string fit_name(std::string_view printable_name, size_t columns);

}  // namespace fathom
