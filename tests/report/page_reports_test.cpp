// SPDX-License-Identifier: Apache-2.0
// The HTML page and the Markdown document.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/sha256.h"
#include "report/html_report.h"
#include "report/made_run.h"
#include "report/markdown_report.h"
#include "support/folders.h"

namespace fathom {
namespace {

size_t count_of(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

std::string between(const std::string& text, std::string_view start, std::string_view end) {
  const size_t from = text.find(start) + start.size();
  return text.substr(from, text.find(end, from) - from);
}

// What is written in every page is left out.
std::string skeleton(std::string html) {
  const auto leave_out = [&](std::string_view start, std::string_view end) {
    const size_t from = html.find(start) + start.size();
    html.replace(from, html.find(end, from) - from, "…");
  };
  leave_out("script-src '", "'");
  leave_out("style-src '", "'");
  leave_out("<style>", "</style>");
  leave_out("<script>", "</script>");
  return html;
}

// After a change that is meant, FATHOM_ACCEPT=1 writes them anew.
void compare(const std::string& text, const char* name) {
  const std::string path = test_data() + "/pages/" + name;
  if (std::getenv("FATHOM_ACCEPT") != nullptr) {
    ASSERT_TRUE(write_file(path, text).ok());
  }
  EXPECT_EQ(text, read_file(path).value());
}

// FATHOM_KEEP_PAGES=FOLDER: to look at them in a browser.
void keep(const std::string& html, const char* name) {
  const char* folder = std::getenv("FATHOM_KEEP_PAGES");
  if (folder == nullptr) return;
  ASSERT_TRUE(write_file(std::string(folder) + "/" + name, html).ok());
}

TEST(PageReports, GoldenFiles) {
  MadeRun made;
  made.everything();
  const Recording recording = made.finish();
  compare(report_text(recording, "markdown"), "run.markdown");
  const std::string html = report_text(recording, "html");
  keep(html, "run.html");
  compare(skeleton(html), "run.html");
}

TEST(HtmlReport, PolicyNamesItsOwnScriptAndStyleOnly) {
  MadeRun made;
  made.everything();
  const std::string html = report_text(made.finish(), "html");
  EXPECT_LT(html.find(kHtmlMark), 256U) << "where fathom report looks for it";
  const std::string policy = between(html, "Content-Security-Policy\" content=\"", "\"");
  EXPECT_EQ(policy, "default-src 'none'; script-src '" +
                        sha256_source(between(html, "<script>", "</script>")) + "'; style-src '" +
                        sha256_source(between(html, "<style>", "</style>")) +
                        "'; base-uri 'none'; form-action 'none'");
  const std::string rest = skeleton(html);
  for (const char* part : {"unsafe", "http:", "https:", " style=", " onclick", "src="})
    EXPECT_EQ(count_of(rest, part), 0U) << part;
}

MadeRun& add_hostile(MadeRun& made) {
  made.facts();
  made.run().command = made.out().string("sh -c '<b>]]></script>' \xff\x01 \xE2\x80\xA8");
  int64_t pid = 10;
  for (const std::string& name : hostile_names()) {
    ++pid;
    made.bar(pid, name, pid, 100 * pid, pid);
    made.gauge(pid, "app", name, name, 1);
    made.gauge(pid, name, "</script><script>alert(1)", "\xE2\x80\xA8", 1);
    made.mark(pid, name);
    made.call(name, name, name, 1, 1, 1);
    made.call("cpu", name, "", 1, {}, {});
    made.add({.stack = {fmt::format("{}@/lib/{}", name, name)}, .pid = 1, .tid = 1});
  }
  return made;
}

TEST(HtmlReport, HostileNamesStayText) {
  MadeRun made;
  const std::string html = report_text(add_hostile(made).finish(), "html");
  keep(html, "hostile.html");
  EXPECT_EQ(count_of(html, "<script"), 2U);
  EXPECT_EQ(count_of(html, "</script"), 2U);
  EXPECT_EQ(count_of(html, "<svg"), 0U);
  EXPECT_EQ(count_of(html, "<b>"), 0U);
  const std::string data = between(html, "id=\"data\">", "</script>");
  EXPECT_EQ(data.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(count_of(data, "\xE2\x80\xA8"), 0U);
  EXPECT_LT(html.size(), 1'000'000U) << "long names are cut";
}

TEST(MarkdownReport, HostileNamesKeepTheTablesWhole) {
  MadeRun made;
  for (const char* name :
       {"a|b", "a\\|b", "`code`", "``", "| --- |", "\\", "@everyone #1", "[x](y)"})
    made.bar(100, name, static_cast<int64_t>(name[0]), 5000, 1);
  const std::string text = report_text(add_hostile(made).finish(), "markdown");
  size_t columns = 0;
  for (const std::string_view line : split_words(text, '\n')) {
    if (!line.starts_with("|")) {
      columns = 0;
      continue;
    }
    size_t bars = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\\')
        ++i;  // whatever follows is no bar of the table
      else if (line[i] == '|')
        ++bars;
    }
    if (columns == 0) columns = bars;
    EXPECT_EQ(bars, columns) << line;
    EXPECT_TRUE(line.ends_with("|")) << line;
  }
}

TEST(MarkdownReport, CodeAndText) {
  EXPECT_EQ(markdown_code("f<int>", 80), "`f<int>`");
  EXPECT_EQ(markdown_code("a`b", 80), "``a`b``");
  EXPECT_EQ(markdown_code("`a`", 80), "`` `a` ``");
  EXPECT_EQ(markdown_code("a|b", 80), "`a\\|b`");
  EXPECT_EQ(markdown_code("a\\|b", 80), "`a\\│b`");
  EXPECT_EQ(markdown_text("a*b <c> @d", 80),
            "a\\*b \\<c\\> @\xE2\x80\x8B"
            "d");
}

TEST(PageReports, ALongRunIsASmallPage) {
  MadeRun made;
  made.facts();
  made.resources(12 * kMadeSecond, 200'000);
  for (int64_t pid = 1; pid < 20'000; ++pid) made.bar(pid, "short", pid, pid + 100, pid);
  const std::string html = report_text(made.finish(), "html");
  keep(html, "long.html");
  EXPECT_LT(html.size(), 500'000U);
}

TEST(PageReports, ARunOfNothingIsAPage) {
  MadeRun made;
  const Recording recording = made.finish();
  const std::string html = report_text(recording, "html");
  EXPECT_EQ(count_of(html, "id=\"plots\""), 0U);
  EXPECT_NE(html.find("<h1>make -j2</h1>"), std::string::npos);
  EXPECT_NE(report_text(recording, "markdown").find("## `make -j2`"), std::string::npos);
}

}  // namespace
}  // namespace fathom
