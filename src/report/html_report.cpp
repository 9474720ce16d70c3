// SPDX-License-Identifier: Apache-2.0
#include "report/html_report.h"

#include <fmt/format.h>

#include <iterator>

#include "base/text.h"
#include "report/html_parts.h"
#include "report/page_head.h"
#include "report/run_tables.h"
#include "report/summary_report.h"
#include "report/timeline_text.h"
#include "report/xml_text.h"

namespace fathom {
namespace {

constexpr size_t kHeadColumns = 1000;
constexpr size_t kPartColumns = 300;
constexpr size_t kCellColumns = 400;
constexpr size_t kNoteColumns = 2000;

std::string script_text() {
  return fmt::format("(() => {{\n'use strict';{}{}{}{}{}}})();\n", kHtmlScriptScales,
                     kHtmlScriptCurves, kHtmlScriptLanes, kHtmlScriptCalls, kHtmlScriptPointing);
}

class HtmlPage {
 public:
  explicit HtmlPage(const Summary& summary) : summary_(summary) {}

  std::string write(const Timeline& timeline, const std::vector<ReportTable>& tables) {
    const std::string script = script_text();
    begin(script);
    add_head();
    add_timeline(timeline);
    for (const ReportTable& table : tables) add_section(table);
    add_origin();
    put("</main>\n<script type=\"application/json\" id=\"data\">{}</script>\n",
        timeline_json(timeline, summary_));
    put("<script>{}</script>\n</body>\n</html>\n", script);
    return std::move(out_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void begin(std::string_view script) {
    put("{}<main>\n",
        page_head(kHtmlMark, script, kHtmlStyle, summary_.text(summary_.run().command)));
  }

  void add_head() {
    const SummaryLines words = summary_lines(summary_);
    put("<header>\n<h1>{}</h1>\n<p class=\"facts {}\">{}</p>\n<dl class=\"totals\">\n",
        xml_text(summary_.text(summary_.run().command), kHeadColumns),
        words.ended_well ? "good" : "bad", xml_text(join(words.facts, kDot), kHeadColumns));
    bool open = false;
    for (const LabelLine& line : words.lines) {
      if (!line.label.empty() || !open) {
        put("{}<div><dt>{}</dt><dd>", open ? "</dd></div>\n" : "", xml_text(line.label, 40));
        open = true;
      }
      for (const std::string& part : line.parts)
        put("<span class=\"{}\">{}</span>", style_class(line.style), xml_text(part, kPartColumns));
    }
    put("{}</dl>\n</header>\n", open ? "</dd></div>\n" : "");
  }

  static const char* style_class(Style style) {
    if (style == Style::kWarning || style == Style::kBad) return "warning";
    return style == Style::kFaint ? "faint" : "part";
  }

  // The script draws into #plots.
  void add_timeline(const Timeline& timeline) {
    const ReportTable curves = curves_table(timeline);
    if (curves.rows.empty() && timeline.lanes.bars.empty() && timeline.marks.empty()) return;
    put(R"(<section id="timeline">
<h2>Over time</h2>
<div class="tools" hidden><p>Drag to zoom. Keys: ← → move, + − zoom, Esc shows all.</p><button type="button" id="reset" disabled>Show all</button></div>
<div id="plots" tabindex="0" role="group" aria-label="Curves over time; arrow keys read them out"></div>
<p id="spoken" class="unseen" aria-live="polite"></p>
<noscript><p class="note">The curves need scripts, which are switched off here. Their figures are below.</p></noscript>
)");
    if (!curves.note.empty())
      put("<p class=\"note\">{}</p>\n", xml_text(curves.note, kNoteColumns));
    add_folded(curves, "Figures of these curves");
    add_folded(marks_table(timeline), "Steps and marks");
    put("</section>\n");
  }

  void add_folded(const ReportTable& table, const char* title) {
    if (table.rows.empty()) return;
    put("<details id=\"{}\"><summary>{}</summary>\n", table.id, title);
    add_table(table);
    put("</details>\n");
  }

  void add_section(const ReportTable& table) {
    put("<section id=\"{}\">\n<h2>{}</h2>\n", table.id, table.title);
    add_table(table);
    if (!table.note.empty()) put("<p class=\"note\">{}</p>\n", xml_text(table.note, kNoteColumns));
    put("</section>\n");
  }

  static const char* kind_class(ColumnKind kind) {
    if (kind == ColumnKind::kNumber) return "number";
    return kind == ColumnKind::kName ? "name" : "text";
  }

  void add_table(const ReportTable& table) {
    put("<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"{}\"><table>\n<thead><tr>",
        table.title);
    for (const ReportColumn& column : table.columns)
      put("<th scope=\"col\" class=\"{}\">{}</th>", kind_class(column.kind), column.title);
    put("</tr></thead>\n<tbody>\n");
    for (const std::vector<std::string>& row : table.rows) {
      put("<tr>");
      for (size_t i = 0; i < row.size(); ++i)
        put("<td class=\"{}\">{}</td>", kind_class(table.columns[i].kind),
            xml_text(row[i], kCellColumns));
      put("</tr>\n");
    }
    put("</tbody></table></div>\n");
  }

  void add_origin() {
    put("<footer>\n<dl>\n");
    for (const auto& [label, text] : run_origin(summary_))
      put("<div><dt>{}</dt><dd>{}</dd></div>\n", label, xml_text(text, kCellColumns));
    put("</dl>\n</footer>\n");
  }

  const Summary& summary_;
  std::string out_;
};

}  // namespace

Status write_html_report(const Recording& recording, const ReportOptions& options) {
  TRY_ASSIGN(const Summary summary, summarize(recording));
  TRY_ASSIGN(const Timeline timeline, load_timeline(recording, summary));
  TRY_ASSIGN(const std::vector<ReportTable> tables, run_tables(recording, summary));
  return print_to(options.out, HtmlPage(summary).write(timeline, tables));
}

}  // namespace fathom
