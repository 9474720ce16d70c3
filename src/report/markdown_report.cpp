// SPDX-License-Identifier: Apache-2.0
#include "report/markdown_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/run_tables.h"
#include "report/summary_report.h"
#include "report/timeline_text.h"

namespace fathom {
namespace {

constexpr size_t kHeadColumns = 300;
constexpr size_t kCellColumns = 120;
constexpr size_t kNoteColumns = 1000;

std::string cell_text(const std::string& cell, ColumnKind kind) {
  if (cell.empty()) return "";
  return kind == ColumnKind::kNumber ? markdown_text(cell, kCellColumns)
                                     : markdown_code(cell, kCellColumns);
}

std::string table_text(const ReportTable& table) {
  if (table.rows.empty()) return "";
  std::string out = fmt::format("\n### {}\n\n", table.title);
  std::string rule = "|";
  out += "|";
  for (const ReportColumn& column : table.columns) {
    out += fmt::format(" {} |", column.title);
    rule += column.kind == ColumnKind::kNumber ? "---:|" : "---|";
  }
  out += "\n" + rule + "\n";
  for (const std::vector<std::string>& row : table.rows) {
    out += "|";
    for (size_t i = 0; i < row.size(); ++i)
      out += fmt::format(" {} |", cell_text(row[i], table.columns[i].kind));
    out += "\n";
  }
  if (!table.note.empty()) out += "\n" + markdown_text(table.note, kNoteColumns) + "\n";
  return out;
}

std::string summary_text(const Summary& summary) {
  const SummaryLines words = summary_lines(summary);
  std::string out = fmt::format("## {}\n\n**{}**\n\n| | |\n|---|---|\n",
                                markdown_code(summary.text(summary.run().command), kHeadColumns),
                                markdown_text(join(words.facts, kDot), kHeadColumns));
  for (const LabelLine& line : words.lines) {
    out += fmt::format("| {} | {} |\n", line.label.empty() ? "" : "**" + line.label + "**",
                       markdown_text(join(line.parts, kDot), kNoteColumns));
  }
  return out;
}

std::string origin_text(const Summary& summary) {
  std::string out;
  for (const auto& [label, text] : run_origin(summary)) {
    out += fmt::format("{}{}: {}", out.empty() ? "\n" : kDot, label,
                       markdown_code(text, kCellColumns));
  }
  return out + "\n";
}

}  // namespace

std::string markdown_code(std::string_view text, size_t columns) {
  std::string shown = fit(printable(text), columns);
  std::string inside, fence = "`";
  size_t run = 0;
  for (const char letter : shown) {
    run = letter == '`' ? run + 1 : 0;
    if (run >= fence.size()) fence += '`';
    if (letter == '|') {
      // A bar needs a backslash in a table, which a backslash before it would spoil.
      inside += inside.ends_with('\\') ? "│" : "\\|";
    } else {
      inside += letter;
    }
  }
  if (inside.empty()) return "";
  const bool pad = inside.starts_with('`') || inside.ends_with('`') ||
                   (inside.starts_with(' ') && inside.ends_with(' '));
  return fence + (pad ? " " : "") + inside + (pad ? " " : "") + fence;
}

std::string markdown_text(std::string_view text, size_t columns) {
  constexpr std::string_view kSpecial = "\\`*_[]<>|~&$#";
  std::string out;
  for (const char letter : fit(printable(text), columns)) {
    if (kSpecial.find(letter) != std::string_view::npos) out += '\\';
    out += letter;
    if (letter == '@') out += "\xE2\x80\x8B";  // zero width: nobody is called
  }
  return out;
}

Status write_markdown_report(const Recording& recording, const ReportOptions& options) {
  TRY_ASSIGN(const Summary summary, summarize(recording));
  TRY_ASSIGN(const Timeline timeline, load_timeline(recording, summary));
  TRY_ASSIGN(const std::vector<ReportTable> tables, run_tables(recording, summary));
  std::string out = summary_text(summary);
  out += table_text(curves_table(timeline));
  out += table_text(marks_table(timeline));
  for (const ReportTable& table : tables) out += table_text(table);
  out += origin_text(summary);
  return print_to(options.out, out);
}

}  // namespace fathom
