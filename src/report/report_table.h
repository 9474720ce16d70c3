// SPDX-License-Identifier: Apache-2.0
// A table of text that a page or a document shows; formats escape what is in it. Plain data: any
// thread.
#pragma once

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

// Tables that may be long show so many rows, and say below how many there are.
constexpr size_t kMostTableRows = 25;
std::string shown_note(size_t shown, size_t all, std::string_view by);

}  // namespace fathom
