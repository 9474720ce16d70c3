// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text_style.h"
#include "report/report_table.h"

namespace fathom {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kGap = 2;

}  // namespace

void TextTable::leave_out_empty(std::initializer_list<std::string_view> names) {
  fathom::leave_out_empty(columns_, rows_, [&](const TextColumn& column) {
    return std::find(names.begin(), names.end(), column.name) != names.end();
  });
}

TextTable::Layout TextTable::layout(size_t columns) const {
  Layout layout;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = display_width(columns_[i].name);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i]));
    layout.shown.push_back(i);
    layout.widths.push_back(width);
  }
  const auto total = [&](bool cut) {
    size_t sum = kIndent;
    for (const size_t i : layout.shown) {
      const size_t width = layout.widths[i];
      sum += kGap + (cut && columns_[i].least > 0 ? std::min(width, columns_[i].least) : width);
    }
    return sum - kGap;
  };
  while (total(true) > columns) {
    const auto least =
        std::max_element(layout.shown.begin(), layout.shown.end(),
                         [&](size_t a, size_t b) { return columns_[a].rank < columns_[b].rank; });
    if (columns_[*least].rank == 0) break;
    layout.shown.erase(least);
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    const size_t needed = total(false);
    if (columns_[i].least == 0 || needed <= columns) continue;
    size_t& width = layout.widths[i];
    width -= std::min(needed - columns, width - std::min(width, columns_[i].least));
  }
  return layout;
}

std::string TextTable::line(const std::vector<std::string>& cells, const Layout& layout,
                            bool heading, bool colours) const {
  std::string line(kIndent, ' ');
  for (const size_t i : layout.shown) {
    if (i != layout.shown.front()) line += std::string(kGap, ' ');
    const std::string cell =
        pad(fit(cells[i], layout.widths[i], Cut::kMiddle), layout.widths[i], columns_[i].side);
    const bool name = i == layout.shown.front() && !heading;
    line += name ? styled(Style::kName, cell, colours) : cell;
  }
  while (line.ends_with(' ')) line.pop_back();
  return (heading ? styled(Style::kHeading, line, colours) : line) + "\n";
}

std::string TextTable::write(const ReportOptions& options) const {
  const Layout shown = layout(options.columns);
  std::vector<std::string> names;
  for (const TextColumn& column : columns_) names.emplace_back(column.name);
  std::string text = line(names, shown, true, options.colours);
  for (const auto& row : rows_) text += line(row, shown, false, options.colours);
  return text;
}

std::vector<std::string> TextTable::left_out(size_t columns) const {
  const Layout shown = layout(columns);
  std::vector<std::string> names;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (std::find(shown.shown.begin(), shown.shown.end(), i) == shown.shown.end())
      names.emplace_back(columns_[i].name);
  }
  return names;
}

std::string bars(const std::vector<int64_t>& values) {
  constexpr std::array<std::string_view, 9> kBars = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  int64_t largest = 0;
  for (const int64_t value : values) largest = std::max(largest, value);
  std::string text;
  for (const int64_t value : values) {
    const double share =
        largest > 0 && value > 0 ? static_cast<double>(value) / static_cast<double>(largest) : 0;
    text += kBars[std::min<size_t>(static_cast<size_t>(std::ceil(share * 8)), 8)];
  }
  return text;
}

}  // namespace fathom
