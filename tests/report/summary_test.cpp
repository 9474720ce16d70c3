// SPDX-License-Identifier: Apache-2.0
#include "report/summary.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "record/journal.h"
#include "report/report.h"
#include "sink/record_stream.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

// A recording made by hand, in a journal.
class SummaryTest : public testing::Test {
 protected:
  void SetUp() override {
    sink_ = open_sink("file", folder_ / "journal").value();
    out_ = std::make_unique<RecordStream>(*sink_);
    run_.id = out_->string("id");
    run_.command = out_->string("make \x1b[31m-j2 " + std::string(200, 'x'));
    run_.start_ns = kNsPerSecond;
    run_.cores = 2;
  }

  void add_process(int64_t pid, std::string_view name, int64_t user_ns, int64_t peak) {
    Process process;
    process.pid = pid;
    process.name = out_->string(name);
    process.start_ns = kNsPerSecond;
    process.user_ns = user_ns;
    process.system_ns = 0;
    process.cpu_ns = user_ns;
    process.peak_rss_bytes = peak;
    out_->add(process);
  }

  void end_run() {
    run_.end_ns = 11 * kNsPerSecond;
    run_.exit_status = 0;
    run_.end_reason = out_->string("exited");
    run_.user_ns = 15 * kNsPerSecond;
    run_.system_ns = kNsPerSecond;
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

TEST_F(SummaryTest, ALookThatMissedThePeakIsNotThePeak) {
  add_process(5, "short", 10 * kNsPerSecond, 250'000);
  run_.peak_rss_bytes = 7'200'000;  // told as it ended
  end_run();
  const std::string text = report("summary");
  EXPECT_NE(text.find("7.2 MB peak of one process"), std::string::npos) << text;
  EXPECT_EQ(text.find("250 kB"), std::string::npos) << text;
}

TEST_F(SummaryTest, NamesTheHotAndTheLargest) {
  add_process(1, "cc1", 6 * kNsPerSecond, 100'000'000);
  add_process(2, "cc1", 6 * kNsPerSecond, 211'000'000);
  add_process(3, "ld", 3 * kNsPerSecond, 50'000'000);
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
    add_process(pid, "a-rather-long-program-name-" + std::to_string(pid), kNsPerSecond, 1'000'000);
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
  EXPECT_NE(text.find("duration not recorded"), std::string::npos) << text;
  EXPECT_NE(text.find("Disk      not recorded"), std::string::npos) << text;
  EXPECT_EQ(text.find(" 0 B read"), std::string::npos) << text;
}

TEST_F(SummaryTest, OneLookAtTheStartIsNoTotalAndNoPressure) {
  for (const char* name : {"cpu_user_total", "cpu_system_total", "memory_peak", "disk_read_total",
                           "disk_written_total", "pressure_cpu_some_total"}) {
    out_->add(
        Gauge{kNsPerSecond, out_->string("cgroup"), out_->string(name), out_->string("ns"), 0});
  }
  out_->add(run_);
  ASSERT_TRUE(out_->close().ok());
  const std::string text = report("summary");
  EXPECT_NE(text.find("CPU       not recorded"), std::string::npos) << text;
  EXPECT_NE(text.find("Disk      not recorded"), std::string::npos) << text;
  EXPECT_EQ(text.find("Pressure"), std::string::npos) << text;
  EXPECT_EQ(text.find("of the cgroup"), std::string::npos) << text;
}

TEST_F(SummaryTest, AContainersNetworkIsItsOwn) {
  const auto received = [&](const char* scope, double bytes) {
    for (const int64_t second : {1, 5})
      for (const char* name : {"net_received_total", "net_sent_total"})
        out_->add(Gauge{second * kNsPerSecond, out_->string(scope), out_->string(name),
                        out_->string("bytes"), static_cast<double>(second - 1) * bytes});
  };
  received("host", 1'000'000);
  received("cgroup", 250);
  end_run();
  const std::string text = report("summary");
  EXPECT_NE(text.find("Network   1.0 kB received · 1.0 kB sent\n"), std::string::npos) << text;
}

TEST_F(SummaryTest, PressureIsOfTheTimeBetweenTheLooks) {
  for (const int64_t second : {1, 5}) {
    out_->add(Gauge{second * kNsPerSecond, out_->string("host"),
                    out_->string("pressure_cpu_some_total"), out_->string("ns"),
                    static_cast<double>(second - 1) * 5e8});
  }
  end_run();
  EXPECT_NE(report("summary").find("Pressure  cpu 50 %"), std::string::npos) << report("summary");
}

TEST_F(SummaryTest, AProcessWhoseNameWasLostHasItsNumber) {
  add_process(4711, "", kNsPerSecond, 100'000'000);
  add_process(4712, "", kNsPerSecond, 50'000'000);
  end_run();
  const std::string text = report("summary");
  EXPECT_NE(text.find("process 4711 50 %"), std::string::npos) << text;
  EXPECT_NE(text.find("process 4712 50 %"), std::string::npos) << text;
  EXPECT_NE(text.find("peak of process 4711"), std::string::npos) << text;
}

TEST_F(SummaryTest, WhatIsKnownLastIsTheEndOfATornRun) {
  out_->add(run_);
  Sample sample;
  sample.time_ns = 4 * kNsPerSecond;
  sample.event = out_->string("cpu-clock");
  sample.weight = 1;
  out_->add(sample);
  ASSERT_TRUE(out_->close().ok());
  EXPECT_EQ(summarize(Recording::open(folder_.path()).value()).value().duration_ns,
            3 * kNsPerSecond);
}

// A thread that is always busy; the last reading is older than the last sample.
TEST_F(SummaryTest, CoresOfAKilledRecorderAreThoseUpToTheLastReading) {
  const auto put = [&](const char* name, int64_t second, double value) {
    out_->add(Gauge{second * kNsPerSecond, out_->string("tree"), out_->string(name),
                    out_->string("ns"), value});
  };
  for (const int64_t second : {2, 3}) {
    put("cpu_user_total", second, 0.75e9 * static_cast<double>(second - 1));
    put("cpu_system_total", second, 0.25e9 * static_cast<double>(second - 1));
  }
  out_->add(run_);
  Sample sample;
  sample.time_ns = 4 * kNsPerSecond;
  sample.event = out_->string("cpu-clock");
  sample.rate_hz = 99;
  sample.weight = 1;
  out_->add(sample);
  ASSERT_TRUE(out_->close().ok());
  const std::string text = report("summary");
  EXPECT_NE(text.find("1.5 s user, 500 ms system · 1.00 of 2 cores"), std::string::npos) << text;
  EXPECT_NE(text.find("in the first 2.0 s, until the last reading"), std::string::npos) << text;
}

TEST_F(SummaryTest, DamageIsNotCalledNothingDropped) {
  run_.recorder_cpu_ns = 5;
  run_.dropped = 0;
  end_run();
  EXPECT_NE(report("summary").find("nothing dropped"), std::string::npos);
  const std::string journal = read_file(folder_ / "journal").value();
  const size_t first = journal.find("FFRM");
  std::string damaged = journal;
  damaged.insert(first, "FFRM that is none");
  ASSERT_TRUE(write_file(folder_ / "journal", damaged).ok());
  const std::string text = report("summary");
  EXPECT_EQ(text.find("nothing dropped"), std::string::npos) << text;
  EXPECT_NE(text.find("some lost to damage"), std::string::npos) << text;
  EXPECT_NE(text.find("figures are those of the rest"), std::string::npos) << text;
}

TEST_F(SummaryTest, WhatCouldNotBeWrittenIsSaidWithItsReason) {
  run_.recorder_cpu_ns = 5;
  run_.dropped = 1'204;
  run_.damage = out_->string(unwritten_damage(1'204, errno_error("write journal", ENOSPC)));
  end_run();
  const std::string text = report("summary");
  EXPECT_NE(text.find("1,204 records dropped\n"), std::string::npos) << text;
  EXPECT_NE(text.find("the disk was full: 1,204 records could not be written"), std::string::npos)
      << text;
}

TEST_F(SummaryTest, StacksWithoutASampleSayThatTheProbeRan) {
  ProbeStatus probe;
  probe.probe = out_->string("stacks");
  probe.settings = out_->string("cpu-clock at 99 Hz, 0.0 obtained");
  out_->add(probe);
  end_run();
  const std::string text = report("summary");
  EXPECT_NE(text.find("no samples at 99 Hz · the program used 16.0 s of CPU"), std::string::npos)
      << text;
}

TEST_F(SummaryTest, PressureIsNoMoreThanTheTimeThatPassed) {
  for (const int64_t look : {1, 2}) {
    out_->add(Gauge{look * kNsPerSecond, out_->string("cgroup"),
                    out_->string("pressure_cpu_some_total"), out_->string("ns"),
                    static_cast<double>(look) * 1.02 * kNsPerSecond});
  }
  end_run();
  const std::string text = report("summary");
  EXPECT_NE(text.find("cpu 100 %"), std::string::npos) << text;
}

TEST_F(SummaryTest, GaugesKeepFirstLastAndLargest) {
  for (const double value : {5.0, 9.0, 7.0}) {
    out_->add(Gauge{kNsPerSecond, out_->string("tree"), out_->string("rss"), out_->string("bytes"),
                    value});
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
