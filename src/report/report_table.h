// SPDX-License-Identifier: Apache-2.0
// A table of text that a page or a document shows; formats escape what is in it. Plain data: any
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

enum class ColumnKind { kText, kNumber, kName };  // a name may be long: cut where it must be

struct ReportColumn {
  std::string title;
  ColumnKind kind = ColumnKind::kText;
};

struct ReportTable {
  std::string id, title, note;
  std::vector<ReportColumn> columns;
  std::vector<std::vector<std::string>> rows;  // as long as there are columns; empty: not measured
};

// Takes those columns out that may go and in which nothing stands.
template <typename Column, typename MayGo>
void leave_out_empty(std::vector<Column>& columns, std::vector<std::vector<std::string>>& rows,
                     MayGo may_go) {
  for (size_t i = columns.size(); i-- > 0;) {
    if (!may_go(columns[i]) ||
        std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return !row[i].empty(); }))
      continue;
    const auto at = static_cast<ptrdiff_t>(i);
    columns.erase(columns.begin() + at);
    for (auto& row : rows) row.erase(row.begin() + at);
  }
}

// Tables that may be long show so many rows, and say below how many there are.
constexpr size_t kMostTableRows = 25;
std::string shown_note(size_t shown, size_t all, std::string_view by);

}  // namespace fathom
