// SPDX-License-Identifier: Apache-2.0
// A table for a terminal: columns as wide as what is in them. Where that is too wide, columns that
// matter least are left out, then the texts are cut. Cells are printable text. Belongs to one
// thread.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "report/report.h"

namespace fathom {

struct TextColumn {
  const char* name;
  Side side = Side::kRight;
  int rank = 0;      // those of the highest are left out first; 0: never
  size_t least = 0;  // of a text: it may be cut to so many columns, in the middle; 0: a figure
};

class TextTable {
 public:
  explicit TextTable(std::vector<TextColumn> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] size_t rows() const { return rows_.size(); }
  // Columns of these names in which nothing stands.
  void leave_out_empty(std::initializer_list<std::string_view> names);
  // The heading and all rows, two columns in.
  [[nodiscard]] std::string write(const ReportOptions& options) const;
  // Names of the columns that are left out at this width.
  [[nodiscard]] std::vector<std::string> left_out(size_t columns) const;

 private:
  struct Layout {
    std::vector<size_t> shown;   // columns
    std::vector<size_t> widths;  // of each column
  };
  [[nodiscard]] Layout layout(size_t columns) const;
  [[nodiscard]] std::string line(const std::vector<std::string>& cells, const Layout& layout,
                                 bool heading, bool colours) const;

  std::vector<TextColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// One character per value, from nothing up to the largest: " ▁▂▃▄▅▆▇█". What is not 0 is seen.
std::string bars(const std::vector<int64_t>& values);

}  // namespace fathom
