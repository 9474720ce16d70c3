// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

namespace fathom {
namespace {

TEST(ClosestMatch, FindsSwapsAndBeginnings) {
  constexpr std::array<std::string_view, 4> kWords = {"report", "run", "query", "--interval"};
  EXPECT_EQ(closest_match("reprot", kWords), "report");
  EXPECT_EQ(closest_match("rep", kWords), "report");
  EXPECT_EQ(closest_match("--intervall", kWords), "--interval");
  EXPECT_EQ(closest_match("urn", kWords), "run");
  EXPECT_EQ(closest_match("banana", kWords), std::nullopt);
  EXPECT_EQ(closest_match("", kWords), std::nullopt);
  EXPECT_EQ(closest_match("run", {}), std::nullopt);
}

TEST(EditDistance, CountsASwapOnce) {
  EXPECT_EQ(edit_distance("ab", "ba"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(ShellQuote, KeepsPlainWordsAndQuotesTheRest) {
  const std::vector<std::string> argv = {"./app", "a b", "", "it's", "$HOME", "--x=1,2"};
  EXPECT_EQ(shell_quote(argv), R"(./app 'a b' '' 'it'\''s' '$HOME' --x=1,2)");
  EXPECT_EQ(shell_quote(std::vector<std::string>{"A=b", "A=b"}), "''A=b A=b");
}

TEST(JsonQuote, IsValidForAnyBytes) {
  EXPECT_EQ(json_quote("a\"b\\c\n\t\x01"), R"("a\"b\\c\n\t\u0001")");
  EXPECT_EQ(json_quote("grün"), "\"grün\"");
  EXPECT_EQ(json_quote("\xFF"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(json_quote("\xC0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"") << "overlong";
  EXPECT_EQ(json_quote("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"") << "surrogate";
  EXPECT_EQ(json_quote("a\xE2\x82"), "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"") << "cut off";
  EXPECT_EQ(json_quote(std::string_view("\0", 1)), R"("\u0000")");
}

TEST(CsvQuote, QuotesOnlyWhereItMust) {
  EXPECT_EQ(csv_quote("plain text"), "plain text");
  EXPECT_EQ(csv_quote("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_quote("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_quote("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_quote(""), "");
}

TEST(CsvQuote, NoFieldIsAFormula) {
  EXPECT_EQ(csv_quote("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
  EXPECT_EQ(csv_quote("=SUM(A1,A2)"), "\"'=SUM(A1,A2)\"");
  EXPECT_EQ(csv_quote("@x"), "'@x");
  EXPECT_EQ(csv_quote("-x"), "'-x");
  EXPECT_EQ(csv_quote("+1+cmd"), "'+1+cmd");
  EXPECT_EQ(csv_quote("\t=1"), "'\t=1");
  EXPECT_EQ(csv_quote("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(csv_quote("'x y'"), "'x y'") << "as the shell has it";
  for (const char* number : {"-5", "+5", "-0.25", "-1e-9", "-inf", "5"})
    EXPECT_EQ(csv_quote(number), number);
}

TEST(PrintableLines, KeepsLineFeedsOnly) {
  EXPECT_EQ(printable_lines("a\x1b[2J\nb\r\n"), "a\\x1b[2J\nb\\r\n");
  EXPECT_EQ(printable_lines(""), "");
}

TEST(Printable, ShowsWhatWouldDriveATerminal) {
  EXPECT_EQ(printable("ok ünïcode"), "ok ünïcode");
  EXPECT_EQ(printable("\x1b[2J\r\n\x7f"), "\\x1b[2J\\r\\n\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\u009b31m")
      << "C1 control";
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b"),
            "a\\u202eb")
      << "direction override";
  EXPECT_EQ(printable("\xFE"), "\\xfe");
}

TEST(ParseDuration, ReadsUnits) {
  EXPECT_EQ(parse_duration("250ms").value(), 250'000'000);
  EXPECT_EQ(parse_duration("1.5s").value(), 1'500'000'000);
  EXPECT_EQ(parse_duration("2m").value(), 120'000'000'000);
  EXPECT_EQ(parse_duration("10").value(), 10'000'000'000);
  EXPECT_EQ(parse_duration("40 us").value(), 40'000);
  EXPECT_EQ(parse_duration("7µs").value(), 7'000);
  EXPECT_EQ(parse_duration("0").value(), 0);
}

TEST(ParseDuration, RefusesTheRest) {
  for (const char* text :
       {"", "s", "-1s", "1x", "1s2", "nan", "inf", "1e3", "99999999999h", "1,5s", " 1s"}) {
    EXPECT_FALSE(parse_duration(text).ok()) << text;
  }
  EXPECT_NE(parse_duration("soon").error().hint, "");
}

TEST(ParseNumber, TakesTheWholeText) {
  EXPECT_EQ(parse_number("-42").value(), -42);
  EXPECT_FALSE(parse_number("42x").ok());
  EXPECT_FALSE(parse_number("").ok());
  EXPECT_FALSE(parse_number("99999999999999999999").ok());
  EXPECT_DOUBLE_EQ(parse_real("99.5").value(), 99.5);
  EXPECT_FALSE(parse_real("nan").ok());
}

TEST(FormatBytes, UsesUnitsOfThousand) {
  EXPECT_EQ(format_bytes(530e6), "530 MB");
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "1.0 kB");
  EXPECT_EQ(format_bytes(uint64_t{12'345'678}), "12 MB");
  EXPECT_EQ(format_bytes(9'960'000), "10 MB");
  EXPECT_EQ(format_bytes(999'600), "1.0 MB");
  EXPECT_EQ(format_bytes(-1500), "-1.5 kB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "18 EB");
}

TEST(FormatCount, GroupsDigits) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1204), "1,204");
  EXPECT_EQ(format_count(-1'234'567), "-1,234,567");
  EXPECT_EQ(format_count(INT64_MIN), "-9,223,372,036,854,775,808");
  EXPECT_EQ(format_count(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(FormatDuration, PicksTheUnit) {
  EXPECT_EQ(format_duration_ns(850), "850 ns");
  EXPECT_EQ(format_duration_ns(12'340), "12.3 µs");
  EXPECT_EQ(format_duration_ns(3'100'000), "3.1 ms");
  EXPECT_EQ(format_duration_ns(999'960'000), "1.0 s");
  EXPECT_EQ(format_duration_ns(14'200'000'000), "14.2 s");
  EXPECT_EQ(format_duration_ns(59'990'000'000), "1 min 00 s");
  EXPECT_EQ(format_duration_ns(125'000'000'000), "2 min 05 s");
  EXPECT_EQ(format_duration_ns(7'500'000'000'000), "2 h 05 min");
  EXPECT_EQ(format_duration_ns(-3'100'000), "-3.1 ms");
  EXPECT_FALSE(format_duration_ns(INT64_MIN).empty());
}

TEST(Fit, CutsToColumns) {
  EXPECT_EQ(display_width("aü漢"), 4U);
  EXPECT_EQ(display_width("e\xCC\x81"), 1U) << "combining";
  EXPECT_EQ(fit("short", 10), "short");
  EXPECT_EQ(fit("a long name", 6), "a lon…");
  EXPECT_EQ(fit("/usr/lib/gcc/cc1plus", 11, Cut::kMiddle), "/usr/…1plus");
  EXPECT_EQ(fit("漢字漢字", 4), "漢…");
  EXPECT_EQ(fit("abc", 0), "");
  EXPECT_EQ(fit("abc", 1), "…");
}

TEST(Fit, NeverExceedsItsColumns) {
  const std::string text = "x漢e\xCC\x81\xFFyü字z";
  for (size_t columns = 0; columns < 12; ++columns) {
    EXPECT_LE(display_width(fit(text, columns)), columns);
    EXPECT_LE(display_width(fit(text, columns, Cut::kMiddle)), columns);
  }
}

TEST(SplitWords, LeavesEmptyPartsOut) {
  EXPECT_EQ(split_words(" a  b "), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(split_words("x,y", ','), (std::vector<std::string_view>{"x", "y"}));
  EXPECT_TRUE(split_words("").empty());
}

TEST(Text, FirstFewNamesAndHowManyMore) {
  EXPECT_EQ(first_few({}, 2), "");
  EXPECT_EQ(first_few({"b", "a"}, 2), "a, b");
  EXPECT_EQ(first_few({"c", "b", "\x1b[2J"}, 1), printable("\x1b[2J") + " and 2 more");
}

}  // namespace
}  // namespace fathom
