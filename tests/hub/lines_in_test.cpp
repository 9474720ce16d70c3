// SPDX-License-Identifier: Apache-2.0
#include "hub/lines_in.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const RowOrigin kOrigin{"run-1", "host <a>", 1'700'000'000'123'000'000};

ParsedLines parse(const std::string& text) {
  auto parsed = contribution_of_lines(text, kOrigin);
  EXPECT_TRUE(parsed.ok());
  return std::move(parsed).value();
}

std::string why_of(const std::string& line) {
  const ParsedLines parsed = parse(line);
  return parsed.bad.empty() ? "" : parsed.bad[0].why;
}

TEST(LinesIn, NodesAreAddedByEventAndTheirOffsetsLeftOut) {
  const auto parsed = parse(
      "{\"node\":\"main+0x1f\",\"execname\":\"cc1\",\"cache-misses\":7,\"cycles\":-2}\n"
      "{\"node\":\"operator+0xzz\",\"e\":1,\"units\":{\"e\":\"ns\"}}\n");
  ASSERT_EQ(parsed.bad_count, 0U);
  ASSERT_EQ(parsed.contribution.sums.size(), 3U);
  EXPECT_EQ(parsed.contribution.sums[0].key, sum_key("main", "cc1", "cache-misses"));
  EXPECT_EQ(parsed.contribution.sums[0].delta, 7);
  EXPECT_EQ(parsed.contribution.sums[1].delta, -2);
  EXPECT_EQ(parsed.contribution.sums[2].key, sum_key("operator+0xzz", "", "e"));
  EXPECT_THAT(parsed.contribution.units,
              ElementsAre(std::pair<std::string, std::string>("e", "ns")));
}

TEST(LinesIn, RowsHaveExectimeAsTextAndSayWhereTheyComeFrom) {
  const auto parsed = parse(
      "{\"benchmark\":{\"cycles\":7,\"time\":1.5}}\n"
      "{\"benchmark\":{\"Exectime\":\"2.25\"}}");
  EXPECT_THAT(
      parsed.contribution.rows,
      ElementsAre("{\"Exectime\":\"1.500000\",\"cycles\":7,\"fathom\":{\"host\":\"host <a>\","
                  "\"run\":\"run-1\",\"time\":\"2023-11-14T22:13:20.123Z\",\"units\":{"
                  "\"Exectime\":\"s\"}}}",
                  HasSubstr("\"Exectime\":\"2.250000\"")));
}

TEST(LinesIn, ANumberBeyond64BitsIsCalledTooLarge) {
  EXPECT_EQ(why_of("{\"node\":\"a\",\"x\":18446744073709551616}"),
            "18446744073709551616 is too large: counts are whole numbers of 64 bits with a sign");
  EXPECT_THAT(why_of("{\"node\":\"a\",\"x\":-9223372036854775809}"),
              HasSubstr("-9223372036854775809 is too large"));
  EXPECT_THAT(why_of("{\"node\":\"a\",\"x\":" + std::string(1000, '9') + "}"),
              HasSubstr("9… is too large"));
  EXPECT_THAT(why_of("{\"node\":\"a\",\"x\":18446744073709551615}"), HasSubstr("64 bits"));
  for (const char* other :
       {"{\"99999999999999999999999\":01}", "{\"a\":1.99999999999999999999999,}",
        "{\"a\\\"99999999999999999999999", "\"\\"})
    EXPECT_EQ(why_of(other), "this is no JSON") << other;
}

TEST(LinesIn, RowsHaveTheUnitsThatAreKnownOrSaid) {
  const auto parsed = parse(
      "{\"benchmark\":{\"units\":{\"b\":\"bytes\",\"absent\":\"x\",\"n\":3},\"b\":1,\"n\":2,"
      "\"cpu-clock:u\":5}}\n{\"benchmark\":{\"units\":4,\"time\":1}}");
  ASSERT_EQ(parsed.bad_count, 0U);
  EXPECT_THAT(parsed.contribution.rows[0],
              HasSubstr("\"units\":{\"b\":\"bytes\",\"cpu-clock:u\":\"ns\"}}}"));
  EXPECT_THAT(parsed.contribution.rows[1], HasSubstr("{\"Exectime\":\"1.000000\",\"units\":4,"));
}

TEST(LinesIn, ARowHasABoundedNumberOfCounts) {
  std::string row = "{\"benchmark\":{\"time\":1";
  for (size_t i = 0; i < kMaxRowNames; ++i) row += ",\"e" + std::to_string(i) + "\":1";
  EXPECT_EQ(parse(row + "}}").contribution.rows.size(), 1U);
  EXPECT_THAT(why_of(row + ",\"one\":1}}"), HasSubstr("at most 4096 counts"));
  EXPECT_THAT(why_of(row + ",\"e7\":1}}"), HasSubstr("at most 4096 counts"));
  EXPECT_THAT(why_of("{\"benchmark\":{\"e\":1,\"e\":2}}"), HasSubstr("'e' stands twice"));
}

TEST(LinesIn, GaugesAndMarks) {
  const auto parsed = parse(
      "{\"gauge\":\"loss\",\"value\":0.25,\"unit\":\"x\"}\n"
      "{\"gauge\":{\"name\":\"rate\",\"value\":3}}\n{\"mark\":\"epoch 3\"}");
  ASSERT_EQ(parsed.contribution.gauges.size(), 2U);
  EXPECT_EQ(parsed.contribution.gauges[0], (GaugeValue{"loss", "x", "app", 0.25, kOrigin.time_ns}));
  EXPECT_EQ(parsed.contribution.gauges[1].name, "rate");
  EXPECT_EQ(parsed.contribution.marks[0].text, "epoch 3");
}

TEST(LinesIn, ABadLineIsNamedByNumberAndTheRestGoesOn) {
  const auto parsed =
      parse("\n{\"node\":\"a\",\"x\":1}\nnonsense\n\n[1]\n{\"node\":\"b\",\"x\":2}");
  EXPECT_EQ(parsed.contribution.sums.size(), 2U);
  ASSERT_EQ(parsed.bad.size(), 2U);
  EXPECT_EQ(parsed.bad[0].number, 3U);
  EXPECT_EQ(parsed.bad[1].number, 5U);
}

TEST(LinesIn, WhatIsWrongIsSaid) {
  EXPECT_THAT(why_of("{\"node\":\"a\"}"), HasSubstr("without events"));
  EXPECT_THAT(why_of("{\"node\":7,\"x\":1}"), HasSubstr("must be a text"));
  EXPECT_THAT(why_of("{\"node\":\"\",\"x\":1}"), HasSubstr("needs a name"));
  EXPECT_THAT(why_of("{\"node\":\"a\",\"x\":1.5}"), HasSubstr("whole number"));
  EXPECT_THAT(why_of("{\"node\":\"a\",\"x\":18446744073709551615}"), HasSubstr("64 bits"));
  EXPECT_THAT(why_of("{\"node\":\"a\",\"x\":-9223372036854775808}"), HasSubstr("cannot be taken"));
  EXPECT_THAT(why_of("{\"node\":\"a\\u0000b\",\"x\":1}"), HasSubstr("NUL"));
  EXPECT_THAT(why_of("{\"node\":\"" + std::string(70'000, 'x') + "\",\"x\":1}"),
              HasSubstr("65536"));
  EXPECT_THAT(why_of("{\"benchmark\":{\"time\":1,\"Exectime\":\"2\"}}"), HasSubstr("one time"));
  EXPECT_THAT(why_of("{\"benchmark\":{\"time\":-1}}"), HasSubstr("0 or more"));
  EXPECT_THAT(why_of("{\"benchmark\":{\"x\":1.5}}"), HasSubstr("whole number"));
  EXPECT_THAT(why_of("{\"benchmark\":{\"x\":1,\"x\":1}}"), HasSubstr("twice"));
  EXPECT_THAT(why_of("{\"benchmark\":{}}"), HasSubstr("without values"));
  EXPECT_THAT(why_of("{\"gauge\":\"x\"}"), HasSubstr("value"));
  EXPECT_THAT(why_of("{\"mark\":\"\"}"), HasSubstr("mark"));
  EXPECT_THAT(why_of("{\"other\":1}"), HasSubstr("neither"));
}

TEST(LinesIn, OneLongNameWithManyEventsIsBoundedAndOfABadLineNothingIsTaken) {
  std::string line = "{\"node\":\"" + std::string(60'000, 's') + "\"";
  for (int i = 0; i < 10'000; ++i) line += ",\"e" + std::to_string(i) + "\":1";
  const auto parsed = parse("{\"node\":\"a\",\"x\":1}\n" + line + "}\n");
  EXPECT_EQ(parsed.bad_count, 1U);
  EXPECT_EQ(parsed.contribution.sums.size(), 1U);
  EXPECT_EQ(parse("{\"node\":\"a\",\"x\":1,\"y\":1.5}").contribution.sums.size(), 0U);
}

TEST(LinesIn, AHundredBadLinesAreEnoughToName) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "x\n";
  const auto parsed = parse(text);
  EXPECT_EQ(parsed.bad.size(), 100U);
  EXPECT_EQ(parsed.bad_count, 1000U);
}

}  // namespace
}  // namespace fathom
