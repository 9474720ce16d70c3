// SPDX-License-Identifier: Apache-2.0
// What `report` and `diff` have in common: flags that choose samples, and where a report goes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/arguments.h"
#include "report/report.h"

namespace fathom {

struct NamedFormat {
  std::string_view suffix, format;
};
// The format that a file's name chooses, with or without .gz behind it. `fallback` where it has no
// suffix or .txt; kInvalid for another one.
Result<std::string_view> format_of_name(std::string_view output,
                                        std::span<const NamedFormat> formats,
                                        std::string_view fallback);

// Flags of the command that say what a report is made of; those it does not declare are left out.
Status read_report_flags(const Arguments& arguments, ReportOptions& options);

// To --output, else to stdout; a picture on a terminal goes beside what it is of, in place of an
// earlier one but of no other file. kCorrupt where tables that it read are damaged: the report is
// of the rest.
Status write_report(const Arguments& arguments, const ReportInfo& report,
                    const std::vector<ProfileSource>& sources, ReportOptions options);

}  // namespace fathom
