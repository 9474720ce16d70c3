// SPDX-License-Identifier: Apache-2.0
// The reports about stacks that are text: folded, top, tree, callers, and what the summary and JSON
// say.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "import/folded_importer.h"
#include "report/function_match.h"
#include "report/made_samples.h"
#include "report/profile_text.h"
#include "support/folders.h"

namespace fathom {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// A small build: 60 in cc1's f, 30 in its g (called by f), 10 in the kernel below ld.
Recording small_build(MadeSamples& made) {
  made.stacks_probe();
  made.process(1, "cc1");
  made.process(2, "ld");
  made.add({.stack = {"main@/bin/cc1", "f@/bin/cc1"}, .weight = 60, .pid = 1, .tid = 1});
  made.add({.stack = {"main@/bin/cc1", "f@/bin/cc1", "g@/lib/libg.so.1"},
            .weight = 30,
            .pid = 1,
            .tid = 1});
  made.add(
      {.stack = {"main@/bin/ld", "read_[k]"}, .weight = 10, .pid = 2, .tid = 2, .unwind = "cut"});
  return made.finish();
}

TEST(FoldedReport, HasTheProcessFirstAndIsSorted) {
  MadeSamples made;
  EXPECT_EQ(report_text(small_build(made), "folded"),
            "cc1;main;f 60\ncc1;main;f;g 30\nld;main;read_[k] 10\n");
}

TEST(FoldedReport, ComesBackTheSameThroughImport) {
  MadeSamples made;
  const std::string folded = report_text(small_build(made), "folded");
  const TempFolder folder;
  ASSERT_TRUE(write_file(folder / "a.folded", folded).ok());
  MadeSamples again;
  ASSERT_TRUE(import_folded(folder / "a.folded", again.out()).ok());
  EXPECT_EQ(report_text(again.finish(), "folded"), folded);
}

TEST(FoldedReport, HostileNamesStayOneFrameOnOneLine) {
  MadeSamples made;
  const std::vector<std::string> names = hostile_names();
  for (const std::string& name : names) {
    made.add({.stack = {"root", name, "leaf"}, .weight = 3});
  }
  const std::string text = report_text(made.finish(), "folded");
  const auto lines = split_words(text, '\n');
  ASSERT_EQ(lines.size(), names.size());
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
  for (const std::string_view line : lines) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ';'), 2) << line;
    EXPECT_TRUE(line.ends_with(";leaf 3")) << line;
    EXPECT_TRUE(std::none_of(line.begin(), line.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    })) << line;
  }
}

TEST(FoldedReport, SaysAsideHowTheStacksEnded) {
  MadeSamples made;
  std::string aside;
  ReportOptions options;
  options.aside = &aside;
  report_text(small_build(made), "folded", options);
  EXPECT_EQ(aside, "Stacks: 66.7 % complete, 33.3 % cut");
}

TEST(TopReport, ShowsSharesIntervalsAndModules) {
  MadeSamples made;
  const std::string text = report_text(small_build(made), "top");
  EXPECT_TRUE(contains(text, "3 samples of cpu-clock at 99 Hz")) << text;
  EXPECT_TRUE(contains(text, "Stacks: 66.7 % complete, 33.3 % cut")) << text;
  EXPECT_TRUE(contains(text, " 60.00 %")) << text;
  EXPECT_TRUE(contains(text, "libg.so.1")) << text;
  EXPECT_LT(text.find(" f "), text.find(" g "));
  EXPECT_FALSE(contains(text, "cc1 process"));
}

TEST(TopReport, LimitsItsRowsAndSaysSo) {
  MadeSamples made;
  ReportOptions options;
  options.limit = 1;
  const std::string text = report_text(small_build(made), "top", options);
  EXPECT_TRUE(contains(text, "4 more functions")) << text;
  EXPECT_FALSE(contains(text, "libg")) << text;
}

TEST(TreeReport, GoesDownTheHeavyPathFirst) {
  MadeSamples made;
  const std::string text = report_text(small_build(made), "tree");
  const size_t at = text.find("cc1");
  EXPECT_LT(at, text.find("↓ f\n")) << text;
  EXPECT_LT(text.find("  g\n"), text.find("ld")) << text;
  EXPECT_TRUE(contains(text, " 90.00 %    29.4–99.5   0.00 %  cc1")) << text;
  ReportOptions options;
  options.min_share = 0.2;
  const std::string pruned = report_text(Recording::open(made.path()).value(), "tree", options);
  EXPECT_FALSE(contains(pruned, "read")) << pruned;
  EXPECT_TRUE(contains(pruned, "below 20 %")) << pruned;
}

TEST(TreeReport, RecursionIsOneLine) {
  MadeSamples made;
  MadeSample deep{.stack = {"main"}};
  deep.stack.insert(deep.stack.end(), 400, "recurse");
  made.add(deep);
  const std::string text = report_text(made.finish(), "tree");
  EXPECT_TRUE(contains(text, "recurse ×400")) << text;
  EXPECT_LT(split_words(text, '\n').size(), 10U) << text;
}

TEST(CallersReport, CountsEverySampleOnce) {
  MadeSamples made;
  made.add({.stack = {"main", "a", "f", "f", "b"}, .weight = 6});
  made.add({.stack = {"main", "f"}, .weight = 3});
  made.add({.stack = {"f", "c"}, .weight = 1});
  made.add({.stack = {"main", "else"}, .weight = 10});
  ReportOptions options;
  options.function = "f";
  const std::string text = report_text(made.finish(), "callers", options);
  const size_t calls = text.find("\ncalls\n");
  ASSERT_NE(calls, std::string::npos) << text;
  const std::string callers = text.substr(0, calls);
  const std::string callees = text.substr(calls);
  EXPECT_TRUE(contains(callers, "50.00 % (")) << text;
  EXPECT_TRUE(contains(callers, "60.00 %    13.9–93.3          1  a\n")) << text;
  EXPECT_TRUE(contains(callers, "30.00 %     4.0–81.6          1  main\n")) << text;
  EXPECT_TRUE(contains(callers, "10.00 %     0.5–70.6          1  (nobody")) << text;
  EXPECT_TRUE(contains(callees, "60.00 %    13.9–93.3          1  b\n")) << text;
  EXPECT_TRUE(contains(callees, "30.00 %     4.0–81.6          1  (itself)\n")) << text;
  EXPECT_TRUE(contains(callees, "10.00 %     0.5–70.6          1  c\n")) << text;
}

TEST(CallersReport, FindsFunctionsByNameThenByPart) {
  MadeSamples made;
  made.process(1, "find");
  made.add({.stack = {"find"}});
  made.add({.stack = {"find(int)"}});
  made.add({.stack = {"find(long)"}});
  made.add({.stack = {"map::findOrInsert(int)"}, .pid = 1, .tid = 1});
  const Profile profile = load_profile(made.finish(), {}).value();
  EXPECT_EQ(match_functions(profile, "find").value().size(), 1U);
  EXPECT_EQ(match_functions(profile, "find(").value().size(), 2U);
  EXPECT_EQ(match_functions(profile, "map::findOrInsert").value().size(), 1U);
  EXPECT_EQ(match_functions(profile, "OrIns").value().size(), 1U);
  const auto wrong = match_functions(profile, "map::fineOrInsert");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().hint, "near are: map::findOrInsert");
  EXPECT_EQ(match_functions(profile, "FINDORINS").error().hint, "near are: map::findOrInsert");
}

TEST(StackReports, NoLineIsTooWideAndNoEscapeGetsThrough) {
  MadeSamples made;
  for (const std::string& name : hostile_names())
    made.add({.stack = {name, name + "()", "f@" + name}});
  const Recording recording = made.finish();
  for (const char* format : {"top", "tree", "callers", "summary"}) {
    for (const size_t columns : {60U, 80U, 120U}) {
      ReportOptions options;
      options.columns = columns;
      options.function = "f";
      const std::string text = report_text(recording, format, options);
      for (const std::string_view line : split_words(text, '\n'))
        EXPECT_LE(display_width(line), columns) << format << ": " << line;
      EXPECT_EQ(text.find('\x1b'), std::string::npos);
    }
  }
}

TEST(StackReports, NamesAreWholeWhereThereIsNoTerminal) {
  const std::string name = "std::vector<" + std::string(300, 't') + ">::push_back(int)";
  const std::string module = "a_module_of_more_than_sixteen_letters.so";
  MadeSamples made;
  made.add({.stack = {"main", name + "@/lib/" + module}});
  const Recording recording = made.finish();
  for (const char* format : {"top", "tree", "callers"}) {
    ReportOptions options;
    options.function = "std::vector";
    EXPECT_FALSE(contains(report_text(recording, format, options), name)) << format;
    options.columns = kAnyWidth;
    const std::string text = report_text(recording, format, options);
    EXPECT_TRUE(contains(text, name)) << text;
    EXPECT_FALSE(contains(text, "…")) << text;
    EXPECT_EQ(contains(text, module), format != std::string_view("tree")) << text;
    EXPECT_LT(text.size(), 3000U) << "padding to the longest name: " << text;
  }
}

TEST(StackReports, SummaryAndJsonSayWhatIsHotAndHowSureThatIs) {
  MadeSamples made;
  const Recording recording = small_build(made);
  const std::string text = report_text(recording, "summary");
  EXPECT_TRUE(contains(text, "Stacks    3 samples at 99 Hz · 66.7 % complete, 33.3 % cut")) << text;
  EXPECT_TRUE(
      contains(text, "Hot       f 60 % (13 to 94) · g 30 % (3 to 82) · read 10 % (0 to 71)"))
      << text;
  const std::string json = report_text(recording, "json");
  EXPECT_TRUE(
      contains(json, R"("unwind": {"samples":3,"complete":2,"others":{"cut":1},"dropped":0})"))
      << json;
  EXPECT_TRUE(contains(
      json,
      R"({"name":"f","module":"/bin/cc1","self_share":0.600000,"self_low":0.139473,"self_high":0.932805,"total_share":0.900000,"total_low":0.294235,"total_high":0.994879,"samples":1,"n":2})"))
      << json;
}

TEST(StackReports, TheIntervalInTheSummaryIsNeverNarrowerThanItIs) {
  MadeSamples made;
  made.process(1, "cc1");
  for (int i = 0; i < 100; ++i) {
    made.add({.stack = {i < 60   ? "often"
                        : i < 95 ? "seldom"
                                 : "rarely"},
              .weight = 10'000,
              .pid = 1,
              .tid = 1});
  }
  // Wilson: 50.20 to 69.06, 26.36 to 44.75 and 2.15 to 11.18 %.
  EXPECT_TRUE(contains(report_text(made.finish(), "summary"),
                       "Hot       often 60 % (50 to 70) · seldom 35 % (26 to 45)"));
  MadeSamples many;  // imported: each weight is so many samples
  many.add({.stack = {"a"}, .weight = 600'000'000, .event = "samples"});
  many.add({.stack = {"b"}, .weight = 400'000'000, .event = "samples"});
  EXPECT_TRUE(contains(report_text(many.finish(), "summary"),
                       "a 60.0 % (59.9 to 60.1) · b 40.0 % (39.9 to 40.1)"));
}

// One sample that stands for as much as 99 others together tells little, however many these are:
// (99 + 99)² / (99² + 99) is 3.96 samples of equal weight.
TEST(StackReports, UnequalWeightsWidenEveryInterval) {
  const auto shares = [](int64_t weight, const char* format) {
    MadeSamples made;
    for (int i = 0; i < 99; ++i) made.add({.stack = {"main", "often"}, .time_ns = i});
    made.add({.stack = {"main", "heavy"}, .weight = weight, .time_ns = 99});
    ReportOptions options;
    options.function = "main";
    return report_text(made.finish(), format, options);
  };
  for (const char* format : {"top", "tree", "callers"}) {
    const std::string unequal = shares(99, format), equal = shares(1, format);
    EXPECT_TRUE(contains(unequal, "50.00 %    14.9–85.1")) << unequal;
    EXPECT_TRUE(contains(equal, "1.00 %    0.18–5.45")) << equal;
  }
  EXPECT_TRUE(contains(shares(99, "json"),
                       R"("self_share":0.500000,"self_low":0.149143,"self_high":0.850857)"));
}

// Where weights are alike, however large, each sample counts as one, of several rates, too.
TEST(StackReports, EqualWeightsOfSeveralRatesCountAsTheSamplesTheyAre) {
  MadeSamples made;
  for (int i = 0; i < 100; ++i) {
    made.add({.stack = {i < 60 ? "a" : "b"},
              .weight = 911'577,
              .time_ns = i,
              .rate_hz = i % 10 == 0 ? 99 : 998});
  }
  const Recording recording = made.finish();
  EXPECT_TRUE(contains(report_text(recording, "top"), "60.00 %    50.2–69.1")) << "of 100";
  ReportOptions options;  // ten of one rate stand for all of it again
  options.filter.rate_hz = 99;
  EXPECT_TRUE(contains(report_text(recording, "top", options), "60.00 %    31.3–83.2")) << "of 10";
}

TEST(StackReports, SourceLinesAreShownWhereAskedFor) {
  MadeSamples made;
  made.add({.stack = {"main|/src/a.c:3", "f(int)@/bin/a|/src/a.c:10"}, .weight = 5});
  made.add({.stack = {"main|/src/a.c:4", "f(int)@/bin/a|/src/a.c:12"}, .weight = 2});
  made.add({.stack = {"main|/src/a.c:4", "f(int)@/bin/a|/src/a.c:12", "g|b.h:7_[i]"}});
  const Recording recording = made.finish();
  EXPECT_EQ(report_text(recording, "folded"), "main;f(int) 7\nmain;f(int);g_[i] 1\n");
  ReportOptions options;
  options.filter.lines = true;
  EXPECT_EQ(report_text(recording, "folded", options),
            "main (a.c:3);f(int) (a.c:10) 5\nmain (a.c:4);f(int) (a.c:12) 2\n"
            "main (a.c:4);f(int) (a.c:12);g (b.h:7)_[i] 1\n");
  for (const char* format : {"top", "tree", "flamegraph"}) {
    const std::string text = report_text(recording, format, options);
    EXPECT_TRUE(contains(text, "f(int) (a.c:10)")) << text;
    EXPECT_TRUE(contains(text, "f(int) (a.c:12)")) << text;
    EXPECT_FALSE(contains(text, "No source lines")) << text;
  }
}

TEST(StackReports, ARecordingWithoutSourceLinesSaysSo) {
  MadeSamples made;
  made.add({.stack = {"main", "f"}, .weight = 5});
  ReportOptions options;
  options.filter.lines = true;
  EXPECT_TRUE(contains(report_text(made.finish(), "top", options),
                       "No source lines: record them with --lines"));
}

TEST(ShortName, KeepsTheSourceLine) {
  EXPECT_EQ(fit_name("f(int, int, int) (hello.c:12)", 22), "f(…) (hello.c:12)");
  EXPECT_EQ(fit_name("a_very_long_name (hello.c:12)", 22), "a_very_l… (hello.c:12)");
  EXPECT_EQ(fit_name("a_very_long_name (hello.c:12)", 14), "a_very_long_n…");
  EXPECT_EQ(fit_name("f(int, int, int) (std::x)", 10), "f(…) (…)");
}

TEST(ShortName, LeavesOutWhatIsInBrackets) {
  EXPECT_EQ(shorten_name("std::map<int, a<b> >::find(int const&) const"),
            "std::map<…>::find(…) const");
  EXPECT_EQ(shorten_name("operator<(a, b)"), "operator<(a, b)");
  EXPECT_EQ(shorten_name("a->b"), "a->b");
  EXPECT_EQ(shorten_name("f(int"), "f(int");
  EXPECT_EQ(fit_name("f(int, int, int)", 10), "f(…)");
  EXPECT_EQ(fit_name("a_long_name(int)", 8), "a_long_…");
}

// tests/data/report/NAME.folded is imported and reported; NAME.FORMAT is what comes out. After a
// change that is meant, FATHOM_ACCEPT=1 writes them anew.
TEST(StackReports, GoldenFiles) {
  namespace fs = std::filesystem;
  size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(test_data() + "/report")) {
    const std::string expected = entry.path().string();
    const std::string format = entry.path().extension().string().substr(1);
    if (format == "folded") continue;
    MadeSamples made;
    made.run().command = made.out().string(entry.path().stem().string());
    ASSERT_TRUE(
        import_folded(fs::path(expected).replace_extension(".folded").string(), made.out()).ok());
    const std::string text = report_text(made.finish(), format.c_str());
    if (std::getenv("FATHOM_ACCEPT") != nullptr) {
      ASSERT_TRUE(write_file(expected, text).ok());
    }
    EXPECT_EQ(text, read_file(expected).value()) << expected;
    ++compared;
  }
  EXPECT_GE(compared, 2U);
}

}  // namespace
}  // namespace fathom
