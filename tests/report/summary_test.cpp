// SPDX-License-Identifier: Apache-2.0
#include "report/summary.h"

#include <gtest/gtest.h>

#include "base/fd.h"
#include "base/text.h"
#include "record/journal.h"
#include "report/report.h"
#include "sink/record_stream.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// A recording made by hand, in a journal.
class SummaryTest : public testing::Test {
 protected:
  void SetUp() override {
    sink_ = open_sink("file", folder_ / "journal").value();
    out_ = std::make_unique<RecordStream>(*sink_);
    run_.id = out_->string("id");
    run_.command = out_->string("make \x1b[31m-j2 " + std::string(200, 'x'));
    run_.start_ns = kSecond;
    run_.cores = 2;
  }

  void add_process(int64_t pid, std::string_view name, int64_t user_ns, int64_t peak) {
    Process process;
    process.pid = pid;
    process.name = out_->string(name);
    process.start_ns = kSecond;
    process.user_ns = user_ns;
    process.system_ns = 0;
    process.cpu_ns = user_ns;
    process.peak_rss_bytes = peak;
    out_->add(process);
  }

  void end_run() {
    run_.end_ns = 11 * kSecond;
    run_.exit_status = 0;
    run_.end_reason = out_->string("exited");
    run_.user_ns = 15 * kSecond;
    run_.system_ns = kSecond;
    out_->add(run_);
    ASSERT_TRUE(out_->close().ok());
  }

  std::string report(const char* format, const std::string& table = {}) {
    const auto recording = Recording::open(folder_.path());
    EXPECT_TRUE(recording.ok());
    ReportOptions options;
    options.table = table;
    options.out = std::fopen((folder_ / "report").c_str(), "w");
    const auto written = find_report(format).value()->write(recording.value(), options);
    EXPECT_TRUE(written.ok()) << written.error().message;
    std::fclose(options.out);
    return read_file(folder_ / "report").value();
  }

  TempFolder folder_;
  std::unique_ptr<Sink> sink_;
  std::unique_ptr<RecordStream> out_;
  fathom::Run run_;
};

TEST_F(SummaryTest, NamesTheHotAndTheLargest) {
  add_process(1, "cc1", 6 * kSecond, 100'000'000);
  add_process(2, "cc1", 6 * kSecond, 211'000'000);
  add_process(3, "ld", 3 * kSecond, 50'000'000);
  end_run();
  const Summary summary = summarize(Recording::open(folder_.path()).value()).value();
  ASSERT_EQ(summary.programs.size(), 2U);
  EXPECT_EQ(summary.programs[0].name, "cc1");
  EXPECT_EQ(summary.programs[0].processes, 2);
  EXPECT_DOUBLE_EQ(summary.programs[0].cpu_share, 0.8);
  EXPECT_EQ(summary.largest->peak_rss_bytes, 211'000'000);
  const std::string text = report("summary");
  EXPECT_NE(text.find("1.60 of 2 cores"), std::string::npos) << text;
  EXPECT_NE(text.find("cc1 80 % (2×)"), std::string::npos) << text;
}

TEST_F(SummaryTest, NoLineIsWiderThanEightyColumnsAndNoEscapeGetsThrough) {
  for (int64_t pid = 0; pid < 40; ++pid)
    add_process(pid, "a-rather-long-program-name-" + std::to_string(pid), kSecond, 1'000'000);
  end_run();
  const std::string text = report("summary");
  for (const std::string_view line : split_words(text, '\n'))
    EXPECT_LE(display_width(line), 80U) << line;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST_F(SummaryTest, WhatWasNotMeasuredIsSaid) {
  out_->add(run_);
  out_->flush();
  ASSERT_TRUE(out_->close().ok());
  const std::string text = report("summary");
  EXPECT_NE(text.find("end not recorded"), std::string::npos) << text;
  EXPECT_NE(text.find("Disk      not measured"), std::string::npos) << text;
  EXPECT_EQ(text.find(" 0 B read"), std::string::npos) << text;
}

TEST_F(SummaryTest, GaugesKeepFirstLastAndLargest) {
  for (const double value : {5.0, 9.0, 7.0}) {
    out_->add(
        Gauge{kSecond, out_->string("tree"), out_->string("rss"), out_->string("bytes"), value});
  }
  end_run();
  const Summary summary = summarize(Recording::open(folder_.path()).value()).value();
  const GaugeRange* rss = summary.gauge("tree rss");
  ASSERT_NE(rss, nullptr);
  EXPECT_EQ(rss->first, 5);
  EXPECT_EQ(rss->last, 7);
  EXPECT_EQ(rss->largest, 9);
  EXPECT_EQ(rss->unit, "bytes");
}

TEST_F(SummaryTest, CsvHasAHeaderAndEmptyCellsForNothing) {
  add_process(7, "a,\"b\"", 5, 6);
  end_run();
  const std::string text = report("csv", "processes");
  EXPECT_TRUE(text.starts_with("pid,ppid,name,exe,")) << text;
  EXPECT_NE(text.find("\n7,,\"a,\"\"b\"\"\",,"), std::string::npos) << text;
}

TEST_F(SummaryTest, UnknownFormatAndTableAreSuggestedFor) {
  end_run();
  EXPECT_EQ(find_report("jsn").error().hint, "did you mean json?");
  ReportOptions options;
  options.table = "proceses";
  const auto written =
      find_report("csv").value()->write(Recording::open(folder_.path()).value(), options);
  EXPECT_EQ(written.error().hint, "did you mean processes?");
}

}  // namespace
}  // namespace fathom
