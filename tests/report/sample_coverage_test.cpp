// SPDX-License-Identifier: Apache-2.0
// Samples beside exact CPU times that are known by construction.
#include "report/sample_coverage.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "report/made_samples.h"

namespace fathom {
namespace {

constexpr int64_t kPeriodNs = 10'101'010;  // 99 Hz

class CoverageRun : public MadeSamples {
 public:
  explicit CoverageRun(std::string_view settings = "cpu-clock at 99 Hz") {
    run().user_ns = 0;
    run().system_ns = 0;
    ProbeStatus probe;
    probe.probe = out().string("stacks");
    probe.settings = out().string(settings);
    out().add(probe);
  }

  // `samples` of its first thread.
  void add_process(int64_t pid, std::string_view name, int64_t cpu_ns, int64_t samples,
                   int64_t system_ns = 0) {
    Process row;
    row.pid = pid;
    row.name = out().string(name);
    row.cpu_ns = cpu_ns;
    out().add(row);
    run().user_ns = *run().user_ns + cpu_ns - system_ns;
    run().system_ns = *run().system_ns + system_ns;
    for (int64_t i = 0; i < samples; ++i)
      add({.stack = {"main"}, .weight = kPeriodNs, .pid = pid, .tid = pid});
  }

  std::string summary() { return report_text(finish(), "summary"); }
};

bool has_text(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(SampleCoverage, ProgramsWithoutTheirSamplesComeFirst) {
  CoverageRun made;
  made.add_process(7, "long", 2 * kNsPerSecond, 198);
  for (int64_t i = 0; i < 200; ++i) made.add_process(100 + i, "short", 5 * kNsPerMs, i < 3 ? 1 : 0);
  const std::string text = made.summary();
  const size_t at = text.find("Sampling  short (200×): 30.3 ms sampled of 1.0 s CPU time");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_LT(at, text.find("CPU  ")) << text;
  EXPECT_TRUE(has_text(text, "shorter than a sampling period")) << text;
  EXPECT_FALSE(has_text(text, "long: ")) << text;
}

TEST(SampleCoverage, ChanceIsNotReported) {
  CoverageRun made;
  made.add_process(7, "exact", 2 * kNsPerSecond, 198);
  made.add_process(8, "low", 2 * kNsPerSecond, 165);  // 2.3 deviations of a Poisson process
  made.add_process(9, "tiny", 20 * kNsPerMs, 0);
  const std::string text = made.summary();
  EXPECT_FALSE(has_text(text, "Sampling")) << text;
}

TEST(SampleCoverage, AThreadThatLacksSamplesIsReportedIfItsProgramIsNot) {
  CoverageRun made;
  made.add_process(7, "pool", 40 * kNsPerSecond, 3960 - 99);
  Thread thread;
  thread.pid = 7;
  thread.tid = 71;
  thread.name = made.out().string("worker");
  thread.cpu_ns = kNsPerSecond;
  made.out().add(thread);
  const std::string text = report_text(made.finish(), "top");
  EXPECT_TRUE(has_text(text, "thread 71 (worker): 0 ns sampled of 1.0 s CPU time")) << text;
}

TEST(SampleCoverage, WithoutSamplesOfTheKernelOnlyUserTimeIsExpected) {
  CoverageRun made("cpu-clock at 99 Hz, user code only");
  made.add_process(7, "writes", 2 * kNsPerSecond, 99, kNsPerSecond);  // half of it in the kernel
  EXPECT_FALSE(has_text(made.summary(), "Sampling"));
  CoverageRun lacking("cpu-clock at 99 Hz, user code only");
  lacking.add_process(7, "writes", 2 * kNsPerSecond, 99, kNsPerSecond);
  lacking.add_process(8, "burns", 3 * kNsPerSecond, 0);
  const std::string text = lacking.summary();
  EXPECT_TRUE(has_text(text, "burns: 0 ns sampled of at least 2.0 s user CPU time")) << text;
}

TEST(SampleCoverage, ARunWithoutAnySampleIsReported) {
  CoverageRun made;
  made.add_process(7, "short", kNsPerSecond, 0);
  EXPECT_TRUE(has_text(made.summary(), "Sampling  short: 0 ns sampled of 1.0 s CPU time"));
}

TEST(SampleCoverage, SeveralRatesRepresentTheTimeOnce) {
  CoverageRun made("cpu-clock at 99, 999 Hz");
  made.add_process(7, "both", 2 * kNsPerSecond, 0);
  for (int i = 0; i < 2 * (99 + 999); ++i)
    made.add({.stack = {"main"}, .weight = kNsPerSecond / (99 + 999), .pid = 7, .tid = 7});
  EXPECT_FALSE(has_text(made.summary(), "Sampling"));
}

TEST(SampleCoverage, OtherEventsAndImportsAreNotCompared) {
  CoverageRun made("page-faults, each one");
  made.add_process(7, "burns", kNsPerSecond, 0);
  made.add({.stack = {"main"}, .weight = 1, .pid = 7, .tid = 7, .event = "page-faults"});
  EXPECT_FALSE(has_text(made.summary(), "Sampling"));
}

TEST(SampleCoverage, EveryFormatStatesIt) {
  CoverageRun made;
  made.add_process(7, "short", 2 * kNsPerSecond, 20);
  const Recording recording = made.finish();
  const std::string words = "short: 202 ms sampled of 2.0 s CPU time";
  for (const char* format : {"summary", "markdown", "html", "top", "tree", "flamegraph"})
    EXPECT_TRUE(has_text(report_text(recording, format), words)) << format;
  const std::string json = report_text(recording, "json");
  EXPECT_TRUE(has_text(json, R"("level":"program","name":"short","pid":null,"tid":null)")) << json;
  EXPECT_TRUE(
      has_text(json, R"("cpu_ns":2000000000,"cpu_is_minimum":false,"sampled_ns":202020200)"))
      << json;
}

}  // namespace
}  // namespace fathom
