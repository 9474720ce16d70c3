// SPDX-License-Identifier: Apache-2.0
#include "base/openmetrics.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

using Type = OpenMetricsText::Type;

TEST(OpenMetrics, WritesFamiliesWithTheirUnitAndSuffix) {
  OpenMetricsText text;
  text.add({.name = "rss", .unit = "bytes", .help = "a \"b\"\n", .value = 4099});
  text.add({.type = Type::kCounter, .name = "cpu_total", .unit = "ns", .value = 23e8});
  text.add({.type = Type::kInfo, .name = "run", .unit = "", .labels = {{"id", "x"}}, .value = 1});
  EXPECT_EQ(text.text(),
            "# TYPE cpu_seconds counter\n# UNIT cpu_seconds seconds\ncpu_seconds_total 2.3\n"
            "# TYPE rss_bytes gauge\n# UNIT rss_bytes bytes\n# HELP rss_bytes a \\\"b\\\"\\n\n"
            "rss_bytes 4099\n"
            "# TYPE run info\nrun_info{id=\"x\"} 1\n"
            "# EOF\n");
}

TEST(OpenMetrics, ThePrometheusFormNamesFamiliesAsTheirSamples) {
  OpenMetricsText text;
  text.add({.name = "rss", .unit = "bytes", .help = "a \"b\"\\\n", .value = 4099, .time_s = 1.5});
  text.add({.type = Type::kCounter, .name = "cpu_total", .unit = "ns", .help = "c", .value = 23e8});
  text.add({.type = Type::kInfo,
            .name = "run",
            .unit = "",
            .help = "r",
            .labels = {{"id", "x"}},
            .value = 1});
  EXPECT_EQ(text.text(OpenMetricsText::Form::kPrometheus),
            "# TYPE cpu_seconds_total counter\n# HELP cpu_seconds_total c\ncpu_seconds_total 2.3\n"
            "# TYPE rss_bytes gauge\n# HELP rss_bytes a \"b\"\\\\\\n\nrss_bytes 4099 1500\n"
            "# TYPE run_info gauge\n# HELP run_info r\nrun_info{id=\"x\"} 1\n");
}

TEST(OpenMetrics, EscapesLabelsAndRepairsNames) {
  EXPECT_EQ(openmetrics_quote("a\"b\\c\nd\xff\u00e9"), "\"a\\\"b\\\\c\\nd\xEF\xBF\xBD\u00e9\"");
  EXPECT_EQ(openmetrics_name("9 lives/day"), "_9_lives_day");
  EXPECT_EQ(openmetrics_name(""), "_");
  EXPECT_EQ(openmetrics_unit("MB/s").first, "MB_per_s");
  EXPECT_EQ(openmetrics_unit("1/s").first, "per_second");
}

TEST(OpenMetrics, OneFamilyHasOneTypeAndNoSeriesStandsTwice) {
  OpenMetricsText text;
  text.add({.name = "x", .unit = "s", .value = 1});
  text.add({.name = "x", .unit = "seconds", .value = 2});
  text.add({.name = "x", .unit = "ns", .value = 3});
  text.add({.name = "x", .unit = "ns", .value = 4});
  text.add({.type = Type::kCounter, .name = "x_total", .unit = "ns", .value = 5e9});
  EXPECT_EQ(text.text(),
            "# TYPE x_counter_seconds counter\n# UNIT x_counter_seconds seconds\n"
            "x_counter_seconds_total 5\n"
            "# TYPE x_seconds gauge\n# UNIT x_seconds seconds\nx_seconds 1\n"
            "x_seconds{unit=\"seconds\"} 2\nx_seconds{unit=\"ns\"} 3e-09\n"
            "# EOF\n");
}

TEST(OpenMetrics, WhatFallsBelowZeroIsNoCounter) {
  OpenMetricsText text;
  text.add(
      {.type = Type::kCounter, .name = "x_total", .unit = "count", .value = -1, .time_s = 1.5});
  EXPECT_EQ(text.text(), "# TYPE x gauge\nx -1 1.500000\n# EOF\n");
}

}  // namespace
}  // namespace fathom
