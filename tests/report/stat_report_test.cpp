// SPDX-License-Identifier: Apache-2.0
#include "report/stat_report.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "report/event_ratios.h"
#include "sink/record_stream.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

// A recording of counted events, made by hand.
class StatReportTest : public testing::Test {
 protected:
  void SetUp() override {
    sink_ = open_sink("file", folder_ / "journal").value();
    out_ = std::make_unique<RecordStream>(*sink_);
    run_.id = out_->string("id");
    run_.command = out_->string("make -j2");
    run_.launcher = out_->string("process");
    run_.start_ns = kNsPerSecond;
    run_.end_ns = 3 * kNsPerSecond;
    run_.user_ns = 2 * kNsPerSecond;
    run_.system_ns = kNsPerSecond / 4;
  }

  EventCount event(const char* name, Maybe count, const char* unit = "count") {
    EventCount row;
    row.name = out_->string(name);
    row.unit = out_->string(unit);
    row.source = out_->string("perf");
    row.count = count;
    if (count) row.enabled_ns = row.running_ns = 2 * kNsPerSecond;
    return row;
  }
  void add(const EventCount& row) { out_->add(row); }
  void refuse(const char* name, const char* why) {
    EventCount row = event(name, std::nullopt);
    row.why = out_->string(why);
    add(row);
  }

  Status write(std::string& text) {
    out_->add(run_);
    EXPECT_TRUE(out_->close().ok());
    return report(text, 80);
  }
  // Of what has been written.
  Status report(std::string& text, size_t columns) {
    ReportOptions options;
    options.columns = columns;
    options.out = std::fopen((folder_ / "report").c_str(), "w");
    Status written = write_stat_report(Recording::open(folder_.path()).value(), options);
    std::fclose(options.out);
    text = read_file(folder_ / "report").value();
    return written;
  }

  TempFolder folder_;
  std::unique_ptr<Sink> sink_;
  std::unique_ptr<RecordStream> out_;
  fathom::Run run_;
};

TEST_F(StatReportTest, LooksLikeThis) {
  add(event("task-clock", 2'000'123'456, "ns"));
  add(event("page-faults", 12'345));
  add(event("cycles", 4'000'000'000));
  EventCount instructions = event("instructions", 6'000'000'000);
  instructions.running_ns = kNsPerSecond;
  add(instructions);
  refuse("cache-misses", "no PMU in this virtual machine");
  std::string text;
  ASSERT_TRUE(write(text).ok());
  EXPECT_EQ(text, R"(Counted for make -j2

         2,000.12 ms  task-clock                # 1.000 CPUs used
              12,345  page-faults               # 6.17 k/s
       4,000,000,000  cycles                    # 2.00 G/s
       6,000,000,000  instructions              # 1.50 per cycle
                                                  (50.0 % of the time, scaled)
     <not supported>  cache-misses              no PMU in this virtual machine

               2.0 s  elapsed
               2.0 s  user
              250 ms  system

  Note      there were more events than counters: they took turns, and counts
            are scaled up to the whole time
  Note      fathom run --simulate gives instructions, caches and branches where
            there is no PMU
  Rates     per second of CPU time
)");
}

TEST_F(StatReportTest, LinesFitATerminalAndAreWholeInAPipe) {
  const char* name = "an_event_of_some_vendor.with_a_name_as_long_as_they_are";
  const char* why =
      "the kernel of this machine does not let its counters be read by anybody "
      "of/a_group_that_has_a_name_as_long_as_paths_have";
  EventCount turns = event(name, 6'000'000'000);
  turns.running_ns = kNsPerSecond;
  add(turns);
  refuse("cache-misses", why);
  std::string text;
  ASSERT_TRUE(write(text).ok());
  for (const size_t columns : {size_t{60}, size_t{80}, kAnyWidth}) {
    ASSERT_TRUE(report(text, columns).ok());
    for (const std::string_view line : split_words(text, '\n'))
      EXPECT_LE(display_width(line), columns) << line;
    EXPECT_EQ(text.find(why) != std::string::npos, columns == kAnyWidth) << text;
    for (const char* word : {"(50.0 %", "scaled)", "the kernel", "anybody"})
      EXPECT_NE(text.find(word), std::string::npos) << word << " is left out of\n" << text;
  }
}

TEST_F(StatReportTest, WhatHadNoCounterIsNoZero) {
  EventCount row = event("LLC-loads", std::nullopt);
  row.enabled_ns = kNsPerSecond;
  row.running_ns = 0;
  row.why = out_->string("no counter was free for it");
  add(row);
  std::string text;
  ASSERT_TRUE(write(text).ok());
  EXPECT_NE(text.find("<not counted>  LLC-loads"), std::string::npos) << text;
  EXPECT_NE(text.find("no counter was free for it"), std::string::npos) << text;
}

TEST_F(StatReportTest, HostileNamesStayOnTheirLine) {
  add(event("a\x1b[31mb\nc", 1));
  std::string text;
  ASSERT_TRUE(write(text).ok());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("b\nc"), std::string::npos);
}

TEST_F(StatReportTest, WithoutEventsItSaysHowToGetSome) {
  std::string text;
  const Status written = write(text);
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().hint.find("--probe counters"), std::string::npos);
}

TEST(EventRatio, GoesWithPartnersOfTheSameMode) {
  const EventCounts counts = {{"cycles", 100},
                              {"instructions", 150},
                              {"instructions:u", 90},
                              {"branches:u", 50},
                              {"branch-misses:u", 1}};
  EXPECT_EQ(event_ratio("instructions", counts), "1.50 per cycle");
  EXPECT_EQ(event_ratio("instructions:u", counts), std::nullopt);
  EXPECT_EQ(event_ratio("branch-misses:u", counts), "2.00 % of branches");
  EXPECT_EQ(event_ratio("page-faults", counts), std::nullopt);
  EXPECT_EQ(event_ratio("branch-misses", {{"branch-misses", 1}, {"branches", 0}}), std::nullopt);
}

TEST(EventRatio, RatesHaveThreeDigits) {
  EXPECT_EQ(format_rate(0, 1), "0.00/s");
  EXPECT_EQ(format_rate(123, 10), "12.3/s");
  EXPECT_EQ(format_rate(999'600, 1000), "1.00 k/s");
  EXPECT_EQ(format_rate(4'000'000'000, 1), "4.00 G/s");
}

}  // namespace
}  // namespace fathom
