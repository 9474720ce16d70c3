// SPDX-License-Identifier: Apache-2.0
#include "report/query_output.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "base/text_style.h"

namespace fathom {
namespace {

constexpr size_t kRowsForWidths = 1000;
constexpr size_t kLeastWidth = 8;  // a text column is not made narrower
constexpr std::string_view kGap = "  ";

// Calls visit(row) with `cells` filled, for every row.
template <class Visit>
Status for_each_row(SqlRows& rows, CellForm form, std::vector<std::string>& cells, Visit&& visit) {
  const DuckApi& api = loaded_duck_api();
  cells.resize(rows.columns.size());
  while (!rows.columns.empty()) {
    TRY_ASSIGN(const DuckChunk chunk, rows.result.next());
    if (chunk.get() == nullptr) break;
    const size_t count = api.data_chunk_get_size(chunk.get());
    rows.taken += static_cast<int64_t>(count);
    for (size_t row = 0; row < count; ++row) {
      for (size_t i = 0; i < cells.size(); ++i) {
        cells[i].clear();
        rows.columns[i].format.append(cells[i], api.data_chunk_get_vector(chunk.get(), i), row,
                                      form);
      }
      TRY(visit());
    }
  }
  return {};
}

// Collects text and hands it on in large pieces.
class Buffered {
 public:
  explicit Buffered(const WriteText& write) : write_(write) {}
  std::string text;

  Status flush(size_t limit = 0) {
    if (text.size() <= limit || text.empty()) return {};
    TRY(write_(text));
    text.clear();
    return {};
  }
  Status flush_if_large() { return flush(size_t{64} << 10); }

 private:
  const WriteText& write_;
};

class TableWriter {
 public:
  TableWriter(const SqlRows& rows, const TableStyle& style, const WriteText& write)
      : rows_(rows), style_(style), out_(write) {
    for (const SqlRows::Column& column : rows.columns) {
      names_.push_back(printable(column.name));
      widths_.push_back(display_width(names_.back()));
    }
  }

  Status add(const std::vector<std::string>& cells) {
    std::vector<std::string> shown;
    shown.reserve(cells.size());
    for (const std::string& cell : cells) shown.push_back(printable(cell));
    if (started_) return write_row(shown);
    for (size_t i = 0; i < shown.size(); ++i)
      widths_[i] = std::max(widths_[i], display_width(shown[i]));
    first_.push_back(std::move(shown));
    return first_.size() < kRowsForWidths ? Status() : start();
  }

  Status finish() {
    if (!started_) TRY(start());
    return out_.flush();
  }

 private:
  Status start() {
    started_ = true;
    fit_widths();
    TRY(write_row(names_, style_.colours));
    for (const auto& row : first_) TRY(write_row(row));
    first_.clear();
    return {};
  }

  // Takes from the widest text column until the table fits or nothing is left to take.
  void fit_widths() {
    const size_t gaps = widths_.empty() ? 0 : kGap.size() * (widths_.size() - 1);
    size_t total = std::accumulate(widths_.begin(), widths_.end(), gaps);
    while (style_.columns > 0 && total > style_.columns) {
      size_t widest = widths_.size();
      for (size_t i = 0; i < widths_.size(); ++i) {
        if (rows_.columns[i].format.numeric() || widths_[i] <= kLeastWidth) continue;
        if (widest == widths_.size() || widths_[i] > widths_[widest]) widest = i;
      }
      if (widest == widths_.size()) return;
      --widths_[widest];
      --total;
    }
  }

  Status write_row(const std::vector<std::string>& cells, bool heading = false) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const bool numeric = rows_.columns[i].format.numeric();
      const std::string text = numeric ? cells[i] : fit(cells[i], widths_[i], Cut::kMiddle);
      const size_t width = display_width(text);
      const std::string fill(widths_[i] > width ? widths_[i] - width : 0, ' ');
      if (i > 0) line += kGap;
      line += numeric ? fill + text : text + fill;
    }
    while (line.ends_with(' ')) line.pop_back();
    out_.text += heading ? styled(Style::kHeading, line, true) : line;
    out_.text += '\n';
    return out_.flush_if_large();
  }

  const SqlRows& rows_;
  TableStyle style_;
  Buffered out_;
  std::vector<std::string> names_;
  std::vector<size_t> widths_;
  std::vector<std::vector<std::string>> first_;
  bool started_ = false;
};

}  // namespace

Status write_table(SqlRows& rows, const TableStyle& style, const WriteText& write) {
  if (rows.columns.empty()) return {};
  TableWriter table(rows, style, write);
  std::vector<std::string> cells;
  TRY(for_each_row(rows, CellForm::kPlain, cells, [&] { return table.add(cells); }));
  return table.finish();
}

Status write_csv(SqlRows& rows, const WriteText& write) {
  Buffered out(write);
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    out.text += (i == 0 ? "" : ",") + csv_quote(rows.columns[i].name) +
                (i + 1 == rows.columns.size() ? "\n" : "");
  }
  std::vector<std::string> cells;
  TRY(for_each_row(rows, CellForm::kPlain, cells, [&] {
    for (size_t i = 0; i < cells.size(); ++i) out.text += (i == 0 ? "" : ",") + csv_quote(cells[i]);
    out.text += '\n';
    return out.flush_if_large();
  }));
  return out.flush();
}

Status write_json(SqlRows& rows, const WriteText& write) {
  Buffered out(write);
  std::vector<std::string> names;
  for (const SqlRows::Column& column : rows.columns) names.push_back(json_quote(column.name) + ":");
  std::vector<std::string> cells;
  std::string separator = "[\n";
  TRY(for_each_row(rows, CellForm::kJson, cells, [&] {
    out.text += separator + "{";
    separator = ",\n";
    for (size_t i = 0; i < cells.size(); ++i) out.text += (i == 0 ? "" : ",") + names[i] + cells[i];
    out.text += '}';
    return out.flush_if_large();
  }));
  out.text += separator.front() == '[' ? "[]\n" : "\n]\n";
  return out.flush();
}

}  // namespace fathom
