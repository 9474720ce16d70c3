// SPDX-License-Identifier: Apache-2.0
#include "report/schema_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "record/column.h"

namespace fathom {

std::string schema_text() {
  size_t longest = 0;
  for (const TableColumns& table : all_tables()) {
    for (const Column& column : table.columns)
      longest = std::max(longest, display_width(column.name));
  }
  std::string text =
      "Every table begins with run and label, the id and the name of the run a row belongs to.\n";
  for (const TableColumns& table : all_tables()) {
    text += fmt::format("\n{}: {}\n", table.name, table.help);
    for (const Column& column : table.columns) {
      const std::string unit = *column.unit == '\0' ? "" : fmt::format(" [{}]", column.unit);
      text += fmt::format("  {:<{}}  {:<8}  {}{}\n", column.name, longest, sql_type(column.type),
                          column.help, unit);
    }
  }
  return text;
}

std::string schema_markdown() {
  std::string text;
  for (const TableColumns& table : all_tables()) {
    text += fmt::format("{}### {}\n\n{}.\n\n", text.empty() ? "" : "\n", table.name, table.help);
    text += "| Column | Type | Unit | Meaning |\n|---|---|---|---|\n";
    for (const Column& column : table.columns) {
      text += fmt::format("| `{}` | {}{} | {} | {} |\n", column.name, sql_type(column.type),
                          column.nullable ? ", NULL" : "", column.unit, column.help);
    }
  }
  return text;
}

}  // namespace fathom
