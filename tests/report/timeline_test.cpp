// SPDX-License-Identifier: Apache-2.0
#include "report/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "report/made_run.h"
#include "report/timeline_text.h"

namespace fathom {
namespace {

TEST(Curve, KeepsEveryPointWhileTheyAreFew) {
  CurveBuilder curve(1000);
  curve.add(20, 2);
  curve.add(10, 1);
  curve.add(30, NAN);
  const auto points = curve.points();
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].from_ns, 10);
  EXPECT_EQ(points[0].to_ns, 20) << "a reading holds until the next one";
  EXPECT_EQ(points[1].value, 2);
  EXPECT_EQ(points[1].from_ns, points[1].to_ns);
}

TEST(Curve, MeansAreWeightedByTime) {
  CurveBuilder readings(10 * kMadeSecond);  // 1 for 9 s, then 11 for 1 s, read four times
  for (const int64_t second : {0, 9}) readings.add(second * kMadeSecond, second == 0 ? 1 : 11);
  for (int i = 1; i <= 3; ++i) readings.add(9 * kMadeSecond + i * kMadeSecond / 3, 11);
  EXPECT_NEAR(mean_of(readings.points()), 2, 1e-9) << "their plain mean is 9";
  CurveBuilder one(kMadeSecond);
  one.add(7, 3);
  EXPECT_EQ(mean_of(one.points()), 3);
  EXPECT_EQ(mean_of({}), 0);
}

// 391 kB/s over the run: 1 MB in the first 0.1 s, little in the 5 s after.
TEST(Rate, MeanIsTheTotalOverTheTimeHoweverUnequalTheIntervals) {
  RateBuilder rate(6 * kMadeSecond, kMadeSecond / 100);
  double total = 0;
  int64_t time_ns = kMadeSecond / 2;
  rate.add({time_ns, total});
  for (const auto& [step_ms, bytes] :
       {std::pair(100, 1e6), std::pair(50, 5e5), std::pair(5000, 1e3)}) {
    time_ns += step_ms * kMadeSecond / 1000;
    total += bytes;
    rate.add({time_ns, total});
  }
  const auto points = rate.points();
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].from_ns, kMadeSecond / 2) << "nothing is known of the time before";
  EXPECT_NEAR(mean_of(points), 1'501'000 / 5.15, 1e-6);
}

TEST(Rate, OfManyUnequalIntervalsHasTheSameMean) {
  RateBuilder rate(1'000 * kMadeSecond, 0);
  double total = 0;
  int64_t time_ns = 0;
  rate.add({0, 0});
  for (int i = 0; i < 5000; ++i) {
    time_ns += i % 2 == 0 ? kMadeSecond / 100 : 39 * kMadeSecond / 100;
    total += i % 2 == 0 ? 100 : 1;
    rate.add({time_ns, total});
  }
  const auto points = rate.points();
  EXPECT_LE(points.size(), kMostCurvePoints);
  EXPECT_NEAR(mean_of(points), total / 1000, 0.01 * total / 1000);
}

// The last reading is taken when the run has ended: its rate is that of the whole interval.
TEST(Rate, AReadingAfterTheEndDoesNotRaiseTheLastRate) {
  RateBuilder rate(kMadeSecond, kMadeSecond / 100);
  rate.add({0, 0});
  rate.add({9 * kMadeSecond / 10, 0.9});
  rate.add({kMadeSecond + kMadeSecond / 10, 1.1});  // one core all the time
  const auto points = rate.points();
  ASSERT_EQ(points.size(), 2U);
  for (const CurvePoint& point : points) EXPECT_NEAR(point.value, 1, 1e-9);
  EXPECT_EQ(points[1].to_ns, kMadeSecond);
}

TEST(Curve, OfAMillionPointsStaysSmallAndKeepsThePeak) {
  CurveBuilder curve(1'000'000);
  for (int64_t i = 0; i < 1'000'000; ++i) curve.add(i, i == 333'333 ? 99 : i == 777'777 ? -5 : 1);
  const auto points = curve.points();
  EXPECT_EQ(points.size(), kMostCurvePoints);
  double least = 0, most = 0;
  for (const CurvePoint& point : points) {
    least = std::min(least, point.least);
    most = std::max(most, point.most);
    EXPECT_NEAR(point.value, 1, 0.2);
  }
  EXPECT_EQ(most, 99);
  EXPECT_EQ(least, -5);
}

TEST(Rate, BeginsAtTheFirstLookAndTakesHastyLooksTogether) {
  RateBuilder rate(10 * kMadeSecond, kMadeSecond / 4);
  rate.add({0, 100});
  rate.add({kMadeSecond, 150});
  rate.add({2 * kMadeSecond, 250});
  rate.add({2 * kMadeSecond + 1'000'000, 260});  // 10,000 a second would be noise
  const auto points = rate.points();
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].from_ns, 0);
  EXPECT_EQ(points[0].to_ns, kMadeSecond);
  EXPECT_EQ(points[0].value, 50);
  EXPECT_NEAR(points[1].value, 110 / 1.001, 1e-9);
}

TEST(Rate, OfLooksThatAreAllHastyIsThereToo) {
  RateBuilder rate(kMadeSecond, kMadeSecond / 10);
  for (int64_t i = 0; i <= 1000; ++i)
    rate.add({i * kMadeSecond / 1000, i < 500 ? 0.0 : 2.0 * static_cast<double>(i - 500)});
  const auto points = rate.points();
  ASSERT_EQ(points.size(), 10U);
  EXPECT_EQ(points[3].value, 0);
  EXPECT_NEAR(points[6].value, 2000, 1e-6);
}

TEST(Looks, OfAnyOrderAndNumberComeByTime) {
  Looks looks(1'000'000);
  for (int64_t i = 0; i < 1'000'000; ++i) {
    const int64_t at = i * 7919 % 1'000'000;
    looks.add({at, static_cast<double>(at)});
  }
  const std::vector<Look> found = looks.by_time();
  EXPECT_LT(found.size(), 25'000U);
  EXPECT_GT(found.size(), 4'000U);
  for (size_t i = 1; i < found.size(); ++i) EXPECT_LT(found[i - 1].time_ns, found[i].time_ns);
}

TEST(Timeline, DoesNotDependOnTheOrderOfRows) {
  MadeRun made;
  made.facts();
  for (const int64_t second : {6, 7, 8, 9, 0, 1, 2, 3, 4, 5}) {
    made.gauge(second * kMadeSecond, "tree", "cpu_user_total", "ns",
               static_cast<double>(second) * 1e9);
    made.gauge(second * kMadeSecond, "tree", "cpu_system_total", "ns",
               static_cast<double>(second) * 5e8);
  }
  const Recording recording = made.finish();
  const Summary summary = summarize(recording).value();
  EXPECT_EQ(summary.gauge("tree cpu_user_total")->first, 0);
  const Timeline timeline = load_timeline(recording, summary).value();
  ASSERT_EQ(timeline.panels.size(), 1U);
  ASSERT_EQ(timeline.panels[0].curves[0].points.size(), 9U);
  for (const CurvePoint& point : timeline.panels[0].curves[0].points)
    EXPECT_NEAR(point.value, 1.5, 1e-9);
}

Timeline timeline_of(MadeRun& made) {
  const Recording recording = made.finish();
  const Summary summary = summarize(recording).value();
  return load_timeline(recording, summary).value();
}

TEST(Timeline, PutsResourcesAndTheApplicationOnOneAxis) {
  MadeRun made;
  made.everything();
  const Timeline timeline = timeline_of(made);
  std::vector<std::string> titles;
  for (const Panel& panel : timeline.panels) titles.push_back(panel.title);
  EXPECT_EQ(titles, (std::vector<std::string>{"CPU", "Memory", "Disk", "Tasks", "loss", "images",
                                              "gpu 0 memory"}));
  EXPECT_EQ(timeline.panels[0].limit, 2);
  const Curve& used = timeline.panels[0].curves[0];
  EXPECT_NEAR(used.points[10].value, 0.75, 1e-6);
  EXPECT_NEAR(used.points[100].value, 1.75, 1e-6);
  EXPECT_EQ(timeline.panels[5].unit, "images/s");
  EXPECT_TRUE(timeline.panels[5].from_application);
  EXPECT_EQ(timeline.marks.size(), 3U);
  ASSERT_EQ(timeline.notes.size(), 1U);
  EXPECT_EQ(timeline.notes[0], "Measured, and 0 all the time: Network of the host.");
}

TEST(Timeline, ManyFiguresAndMarksAreBoundedAndTold) {
  MadeRun made;
  made.facts();
  for (int i = 0; i < 100; ++i) made.gauge(1, "app", fmt::format("figure {}", i), "", i);
  for (int i = 0; i < 600; ++i) made.mark(i, "step");
  const Timeline timeline = timeline_of(made);
  EXPECT_EQ(timeline.panels.size(), 40U);
  EXPECT_EQ(timeline.marks.size(), 500U);
  EXPECT_EQ(timeline.notes, (std::vector<std::string>{"60 more figures are in the table gauges.",
                                                      "100 more marks are in the table marks."}));
}

TEST(ProcessLanes, BarsOfALaneDoNotOverlapAndTheRestIsFolded) {
  MadeRun made;
  made.facts();
  made.bar(1, "make", 0, 12 * kMadeSecond, 1);
  for (int64_t i = 0; i < 2000; ++i)
    made.bar(2 + i, "cc1", i * 5'000'000, i * 5'000'000 + 400'000'000, i);
  const Timeline timeline = timeline_of(made);
  const ProcessLanes& lanes = timeline.lanes;
  EXPECT_LE(lanes.lanes, kMostLanes);
  EXPECT_LE(lanes.bars.size(), kMostBars);
  EXPECT_EQ(lanes.bars.size() + static_cast<size_t>(lanes.folded), 2001U);
  EXPECT_EQ(lanes.folded_alive.size(), kFoldedBuckets);
  EXPECT_EQ(lanes.bars.front().lane, 0U) << "the first process";
  std::map<size_t, int64_t> end_ns;
  for (const ProcessBar& bar : lanes.bars) {
    EXPECT_GE(bar.start_ns, end_ns[bar.lane]);
    end_ns[bar.lane] = bar.end_ns;
  }
}

TEST(TimelineText, FiguresCarryTheirUnits) {
  EXPECT_EQ(figure_text(1.5, "cores"), "1.50 cores");
  EXPECT_EQ(figure_text(12.34e6, "bytes/s"), "12 MB/s");
  EXPECT_EQ(figure_text(12.34, "%"), "12.3 %");
  EXPECT_EQ(figure_text(1234567, "images/s"), "1,234,567 images/s");
  EXPECT_EQ(figure_text(0.00012345, ""), "0.0001234");
}

}  // namespace
}  // namespace fathom
