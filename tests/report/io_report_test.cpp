// SPDX-License-Identifier: Apache-2.0
#include "report/io_report.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/clock.h"
#include "base/duckdb_api.h"
#include "record/tables.h"
#include "report/io_profile.h"
#include "report/made_calls.h"

namespace fathom {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// tests/data/io_report/NAME.calls is recorded; NAME.io and NAME.narrow are what the report says of
// it at 80 and 60 columns. After a change that is meant, FATHOM_ACCEPT=1 writes them anew.
TEST(IoReport, GoldenFiles) {
  namespace fs = std::filesystem;
  size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(calls_path(""))) {
    if (entry.path().extension() != ".calls") continue;
    MadeCalls made;
    made.read(entry.path());
    const Recording recording = made.finish();
    for (const auto& [extension, columns] : {std::pair(".io", 80), std::pair(".narrow", 60)}) {
      ReportOptions options;
      options.columns = static_cast<size_t>(columns);
      const std::string text = report_text(recording, "io", options);
      const std::string expected = fs::path(entry.path()).replace_extension(extension);
      if (std::getenv("FATHOM_ACCEPT") != nullptr) {
        ASSERT_TRUE(write_file(expected, text).ok());
      }
      EXPECT_EQ(text, read_file(expected).value()) << expected;
      ++compared;
    }
  }
  EXPECT_GE(compared, 6U);
}

TEST(IoReport, JournalAndTablesSayTheSame) {
  if (const auto api = duck_api(); !api.ok()) GTEST_SKIP() << api.error().message;
  for (const char* name : {"counted", "traced", "layered"}) {
    MadeCalls made;
    made.read(calls_path(std::string(name) + ".calls"));
    const Recording journal = made.finish();
    const std::string io = report_text(journal, "io");
    const std::string json = report_text(journal, "json");
    ASSERT_TRUE(convert_journal(journal).ok());
    const Recording tables = Recording::open(made.path()).value();
    ASSERT_EQ(tables.form(), Recording::Form::kTables);
    EXPECT_EQ(report_text(tables, "io"), io);
    EXPECT_EQ(report_text(tables, "json"), json);
  }
}

// A run shorter than a slice has one figure: bars within it would be made up.
TEST(IoReport, NoBarIsShorterThanWhatBytesAreKnownFor) {
  MadeCalls made;
  made.counter({.name = "read", .bytes = 4096, .slice_ns = 3600 * kNsPerSecond});
  const std::string text = report_text(made.finish(), "io");
  EXPECT_TRUE(contains(text, "Bandwidth, a bar is 2.0 s")) << text;
}

TEST(IoReport, WithoutCallsItSaysWhatToRun) {
  MadeCalls made;
  made.counter({.name = "cuLaunchKernel", .time_ns = 5, .layer = "cuda"});
  const auto profile = load_io_profile(made.finish(), {});
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.error().code, Code::kNotFound);
  EXPECT_TRUE(profile.error().message.ends_with(" holds no I/O calls"));
  EXPECT_EQ(profile.error().hint, "record them with: fathom run --probe io -- COMMAND");
  EXPECT_TRUE(contains(report_text(Recording::open(made.path()).value(), "json"), "\"io\": null"));
}

TEST(IoReport, AProbeThatSawNothingSaysWhy) {
  MadeCalls made;
  made.io_probe(0, "busybox is static: \x1b[31m");
  const auto profile = load_io_profile(made.finish(), {});
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.error().hint, "busybox is static: \\x1b[31m");
}

TEST(IoReport, ATornJournalIsReportedAsFarAsItGoes) {
  MadeCalls made;
  made.run().end_ns.reset();
  made.span({.name = "read", .at_ns = kNsPerSecond, .time_ns = 1000, .bytes = 4099});
  made.out().flush();
  made.span({.name = "read", .at_ns = 3 * kNsPerSecond, .time_ns = kNsPerSecond, .bytes = 4099});
  const Recording whole = made.finish();
  const IoProfile profile = load_io_profile(whole, {}).value();
  EXPECT_EQ(profile.duration_ns, 4 * kNsPerSecond);
  EXPECT_EQ(profile.total.read_bytes, 2 * 4099);
  const std::string journal = made.path() + "/journal";
  std::filesystem::resize_file(journal, std::filesystem::file_size(journal) - 3);
  const Recording torn = Recording::open(made.path()).value();
  const IoProfile left = load_io_profile(torn, {}).value();
  EXPECT_EQ(left.total.read_bytes, 4099);
  EXPECT_FALSE(left.damage.empty());
  EXPECT_TRUE(contains(report_text(torn, "io"), "  Missing   ")) << report_text(torn, "io");
}

TEST(IoReport, NoLineIsTooWideAndNoEscapeGetsThrough) {
  MadeCalls made;
  made.io_probe(7, "why \x1b[31m " + std::string(300, 'y'), "trace, stacks");
  int64_t tid = 0;
  for (const std::string& name : hostile_names()) {
    ++tid;
    made.process(tid, name);
    made.span({.name = name,
               .file = name,
               .at_ns = tid * 1000,
               .time_ns = 500,
               .bytes = 9,
               .layer = name.substr(0, 40),
               .pid = tid,
               .tid = tid});
    made.span({.name = "read",
               .file = "/" + name,
               .at_ns = tid * 1000,
               .time_ns = tid * tid * tid,
               .bytes = tid << 40,
               .pid = tid,
               .tid = tid,
               .stack = {name, "main", name}});
  }
  const Recording recording = made.finish();
  for (const size_t columns : {60U, 80U, 120U}) {
    ReportOptions options;
    options.columns = columns;
    options.limit = 0;
    const std::string text = report_text(recording, "io", options);
    for (const std::string_view line : split_words(text, '\n'))
      EXPECT_LE(display_width(line), columns) << line;
    for (const char byte : text)
      ASSERT_TRUE(byte == '\n' || static_cast<unsigned char>(byte) >= 0x20) << text;
  }
}

TEST(IoReport, SaysThatCallsWereCountedAndShowsNoTimes) {
  MadeCalls made;
  made.counter({.name = "read", .file = "/a", .calls = 3, .bytes = 4096, .errors = 0});
  made.counter({.name = "write", .file = "/b", .calls = 7, .bytes = 10, .errors = 1, .tid = 2});
  const Recording recording = made.finish();
  const std::string text = report_text(recording, "io");
  EXPECT_TRUE(contains(text, "calls were counted, not timed")) << text;
  EXPECT_TRUE(contains(text, ", by calls\n")) << text;
  for (const char* wrong : {"  time", "0 ns", "self", "share", "by self time"})
    EXPECT_FALSE(contains(text, wrong)) << wrong << text;
  EXPECT_TRUE(contains(report_text(recording, "json"), "\"io_ns\": null"));
  const std::string page = report_text(recording, "html");
  for (const char* wrong : {"0 ns", ">Time<", ">p50<", ">Longest<", "self time", "≤:"})
    EXPECT_FALSE(contains(page, wrong)) << wrong;
}

TEST(IoReport, FiguresThatOverflowStopAtTheLargest) {
  MadeCalls made;
  for (int i = 0; i < 3; ++i) {
    made.counter({.name = "read",
                  .file = "/f",
                  .at_ns = INT64_MAX - 1,
                  .calls = INT64_MAX,
                  .time_ns = INT64_MAX,
                  .self_ns = INT64_MIN,
                  .bytes = INT64_MAX,
                  .errors = -1,
                  .latency = {INT64_MAX, 0, INT64_MAX},
                  .slice_ns = INT64_MAX});
    made.span({.name = "write",
               .file = "/f",
               .at_ns = INT64_MIN,
               .time_ns = INT64_MAX,
               .bytes = INT64_MAX});
  }
  const Recording recording = made.finish();
  const IoProfile profile = load_io_profile(recording, {}).value();
  EXPECT_EQ(profile.total.read_bytes, INT64_MAX);
  EXPECT_EQ(profile.total.errors, 0);
  EXPECT_FALSE(report_text(recording, "io").empty());
}

TEST(IoReport, LimitsItsRowsAndSaysSo) {
  MadeCalls made;
  for (int64_t i = 0; i < 30; ++i) {
    made.span({.name = "f" + std::to_string(i), .at_ns = 100 * i, .time_ns = 10 + i});
    made.span({.name = "pread",
               .file = "/file" + std::to_string(i),
               .at_ns = 100 * i + 50,
               .time_ns = 1,
               .bytes = i == 0 ? 71 : 1});
  }
  const Recording recording = made.finish();
  const std::string usual = report_text(recording, "io");
  EXPECT_TRUE(contains(usual, "  11 more functions; --limit 0 shows all\n")) << usual;
  EXPECT_TRUE(contains(usual, "  10 more files with 10 % of the bytes; --limit 0")) << usual;
  ReportOptions options;
  options.limit = 0;
  const std::string all = report_text(recording, "io", options);
  EXPECT_FALSE(contains(all, "more")) << all;
  EXPECT_TRUE(contains(all, "/file29")) << all;
}

TEST(IoReport, ColoursOnlyWhereAsked) {
  MadeCalls made;
  made.read(calls_path("counted.calls"));
  const Recording recording = made.finish();
  ReportOptions options;
  EXPECT_FALSE(contains(report_text(recording, "io", options), "\x1b["));
  options.colours = true;
  EXPECT_TRUE(contains(report_text(recording, "io", options), "\x1b[36mread"));
}

TEST(IoReport, JsonHasTheFigures) {
  MadeCalls made;
  made.read(calls_path("traced.calls"));
  const std::string json = report_text(made.finish(), "json");
  EXPECT_TRUE(contains(json, "\"read_bytes\": 1073754,\n    \"written_bytes\": 65536")) << json;
  EXPECT_TRUE(contains(json, R"({"layer":"c","name":"fread","kind":"read","calls":3,"errors":0,)"
                             R"("bytes":8215,"time_ns":5100,"self_time_ns":5100,"p50_ns":1500,)"
                             R"("p95_ns":2500,"p99_ns":2500,"max_ns":2500,"exact":true})"))
      << json;
  EXPECT_TRUE(contains(json, R"("name":"fopen","kind":"open","calls":1,"errors":0,"bytes":null,)"
                             R"("time_ns":4000,"self_time_ns":3500)"))
      << json;
}

}  // namespace
}  // namespace fathom
