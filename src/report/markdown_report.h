// SPDX-License-Identifier: Apache-2.0
// The run as tables for a pull request, in the Markdown of GitHub. Names are code and mention,
// link and format nothing.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_markdown_report(const Recording& recording, const ReportOptions& options);

// Text as code within a table; as plain text, whatever Markdown would make of it.
std::string markdown_code(std::string_view text, size_t columns);
std::string markdown_text(std::string_view text, size_t columns);

}  // namespace fathom
