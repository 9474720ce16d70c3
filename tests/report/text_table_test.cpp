// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TextTable table_of(const std::string& name) {
  TextTable table(
      {{"name", Side::kLeft, 0, 8}, {"n"}, {"much", Side::kRight, 1}, {"x", Side::kLeft, 2}});
  table.add({name, "1", "12,345", "left"});
  table.add({"b", "22", "", ""});
  return table;
}

std::string at_width(const TextTable& table, size_t columns) {
  ReportOptions options;
  options.columns = columns;
  return table.write(options);
}

TEST(TextTable, ColumnsAreAsWideAsWhatIsInThem) {
  EXPECT_EQ(at_width(table_of("日本"), 80),
            "  name   n    much  x\n"
            "  日本   1  12,345  left\n"
            "  b     22\n");
}

TEST(TextTable, WhatMattersLeastGoesFirstThenTextsAreCut) {
  const TextTable table = table_of("/a/long/path");
  EXPECT_EQ(at_width(table, 28),
            "  name       n    much  x\n"
            "  /a/l…ath   1  12,345  left\n"
            "  b         22\n");
  EXPECT_EQ(at_width(table, 22),
            "  name       n    much\n"
            "  /a/l…ath   1  12,345\n"
            "  b         22\n");
  EXPECT_EQ(table.left_out(22), std::vector<std::string>{"x"});
  EXPECT_EQ(at_width(table, 5),
            "  name       n\n"
            "  /a/l…ath   1\n"
            "  b         22\n");
  EXPECT_TRUE(table.left_out(80).empty());
}

TEST(Bars, GoFromNothingToTheLargest) {
  EXPECT_EQ(bars({0, 1, 500, 1000}), " ▁▄█");
  EXPECT_EQ(bars({0, 0}), "  ");
  EXPECT_EQ(bars({}), "");
  EXPECT_EQ(bars({INT64_MAX, -5}), "█ ");
}

}  // namespace
}  // namespace fathom
