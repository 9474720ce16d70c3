// SPDX-License-Identifier: Apache-2.0
#include "cli/job_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/report.h"

namespace fathom {
namespace {

using testing::HasSubstr;

TEST(JobText, AJobAndItsRunsAreAShortTable) {
  const auto text = job_text(
      "{\"id\":2001,\"description\":\"nightly\",\"labels\":{\"os\":\"linux\"},"
      "\"created\":\"2026-11-15T14:00:00.123Z\",\"rows\":3}",
      "{\"runs\":[{\"run\":\"r\\u001b[2J" + std::string(300, 'x') +
          "\",\"host\":\"h\",\"acknowledged\":7,\"first\":\"\",\"last\":"
          "\"2026-11-15T15:00:00.000Z\"}]}",
      80);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(text.value(), HasSubstr("job 2001: nightly\n"
                                      "created 2026-11-15 14:00:00 UTC, 3 benchmark rows, 1 run\n"
                                      "labels os=linux\n"));
  EXPECT_THAT(text.value(), HasSubstr("2026-11-15 15:00:00"));
  EXPECT_EQ(text.value().find('\x1b'), std::string::npos);
  for (size_t at = 0; at < text.value().size();) {
    const size_t end = text.value().find('\n', at);
    EXPECT_LE(end - at, 82U);  // "…" has three bytes
    at = end + 1;
  }
  EXPECT_FALSE(job_text("x", "{}").ok());
}

TEST(JobText, AnEventIsALine) {
  EXPECT_EQ(
      event_line("{\"job\":2001,\"time\":\"2026-11-15T14:00:01.000Z\",\"updates\":1,\"nodes\":"
                 "0,\"runs\":{},\"sums\":[],\"rows\":[],\"row_count\":0,\"gauges\":[{\"name\":"
                 "\"loss\",\"unit\":\"x\",\"value\":0.25}],\"marks\":[{\"text\":\"a\\nb\"}]}"),
      "14:00:01  mark a\\nb  loss = 0.25 x");
  EXPECT_EQ(
      event_line("{\"job\":2001,\"time\":\"2026-11-15T14:00:01.000Z\",\"nodes\":12,\"sums\":[{"
                 "\"node\":\"main\",\"execname\":\"x\",\"event\":\"cycles\",\"added\":17}],"
                 "\"rows\":[{\"Exectime\":\"1.5\"}],\"row_count\":2}"),
      "14:00:01  2 rows, 1.5 s  cycles +17 in main  12 sums");
  EXPECT_EQ(event_line("{\"job\":2001,\"time\":\"2026-11-15T14:00:01.000Z\",\"nodes\":0,\"runs\":{"
                       "\"r1\":1},\"sums\":[],\"rows\":[],\"row_count\":0}"),
            "14:00:01  a batch of r1 without figures");
  EXPECT_EQ(event_line("{\"events\":5}"), "5 events were lost: this reader is too slow");
  EXPECT_EQ(event_line(std::string(500, 'y'), 80), std::string(79, 'y') + "…");
}

TEST(JobText, NothingIsCutInAFile) {
  const std::string node(300, 'n'), run(300, 'r');
  const std::string line = event_line(
      "{\"job\":1,\"time\":\"2026-11-15T14:00:01.000Z\",\"nodes\":1,\"sums\":[{\"node\":\"" + node +
          "\",\"event\":\"cycles\",\"added\":17}]}",
      kAnyWidth);
  EXPECT_EQ(line, "14:00:01  cycles +17 in " + node);
  const auto text = job_text("{\"id\":1,\"created\":\"\",\"rows\":0}",
                             "{\"runs\":[{\"run\":\"" + run + "\",\"host\":\"h\"}]}", kAnyWidth);
  EXPECT_THAT(text.value(), HasSubstr(run));
}

}  // namespace
}  // namespace fathom
