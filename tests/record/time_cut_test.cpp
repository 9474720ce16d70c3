// SPDX-License-Identifier: Apache-2.0
#include "record/time_cut.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(TimeCut, LeavesWhatHappenedInTheTime) {
  Rows rows;
  for (const int64_t time : {0, 99, 100, 150, 199, 200}) {
    rows.of<Gauge>().push_back({.time_ns = time});
    rows.of<Mark>().push_back({.time_ns = time});
    Sample sample;
    sample.time_ns = time;
    rows.of<Sample>().push_back(sample);
    Counter counter;
    counter.slice_ns = time;
    rows.of<Counter>().push_back(counter);
    Span span;
    span.start_ns = time;
    rows.of<Span>().push_back(span);
  }
  cut_rows(rows, {100, 200});
  for (const size_t count :
       {rows.of<Gauge>().size(), rows.of<Mark>().size(), rows.of<Sample>().size(),
        rows.of<Counter>().size(), rows.of<Span>().size()})
    EXPECT_EQ(count, 3U);
  EXPECT_EQ(rows.of<Gauge>().front().time_ns, 100);
}

Process lived(int64_t pid, int64_t start_ns, Maybe end_ns) {
  Process process;
  process.pid = pid;
  process.start_ns = start_ns;
  process.end_ns = end_ns;
  process.user_ns = 7;
  return process;
}

TEST(TimeCut, SumsOfALongerLifeAreNotOfThePart) {
  Rows rows;
  rows.of<Process>() = {lived(1, 0, 100), lived(2, 0, 101), lived(3, 120, 180), lived(4, 150, {}),
                        lived(5, 200, 210)};
  cut_rows(rows, {100, 200});
  const std::vector<Process>& left = rows.of<Process>();
  ASSERT_EQ(left.size(), 3U);
  EXPECT_EQ(left[0].pid, 2);
  EXPECT_FALSE(left[0].user_ns);
  EXPECT_EQ(left[1].pid, 3);
  EXPECT_EQ(left[1].user_ns, 7);
  EXPECT_EQ(left[2].pid, 4);
  EXPECT_FALSE(left[2].user_ns);
}

TEST(TimeCut, TheRunIsAsLongAsThePart) {
  Rows rows;
  fathom::Run run;
  run.start_ns = 50;
  run.end_ns = 500;
  run.user_ns = 7;
  rows.of<fathom::Run>() = {run};
  cut_rows(rows, {100, 200});
  EXPECT_EQ(rows.of<fathom::Run>()[0].start_ns, 100);
  EXPECT_EQ(rows.of<fathom::Run>()[0].end_ns, 200);
  EXPECT_FALSE(rows.of<fathom::Run>()[0].user_ns);
  cut_rows(rows, {300, 400});
  EXPECT_EQ(rows.of<fathom::Run>()[0].end_ns, 300) << "nothing is left of it";
}

}  // namespace
}  // namespace fathom
