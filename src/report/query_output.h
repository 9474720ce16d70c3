// SPDX-License-Identifier: Apache-2.0
// Rows of a query as a table for people, CSV or JSON, written as they come: memory does not grow
// with their number. Belongs to one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "record/sql.h"

namespace fathom {

using WriteText = std::function<Status(std::string_view)>;

struct TableStyle {
  size_t columns = 0;  // of the terminal; 0: as wide as it needs
  bool colours = false;
};

// Widths come from the first thousand rows; later texts that are wider are cut.
Status write_table(SqlRows& rows, const TableStyle& style, const WriteText& write);
// RFC 4180 with a header line. NULL is an empty field.
Status write_csv(SqlRows& rows, const WriteText& write);
// An array with an object a row, one a line.
Status write_json(SqlRows& rows, const WriteText& write);

}  // namespace fathom
