// SPDX-License-Identifier: Apache-2.0
#include "report/diff_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <regex>

#include "report/made_samples.h"
#include "report/profile_diff.h"

namespace fathom {
namespace {

using Folded = std::vector<std::pair<std::string, int>>;

// Files of folded stacks, and what reports say of them.
class Sides {
 public:
  void add(const Folded& lines, uint32_t set) {
    std::string text;
    for (const auto& [stack, count] : lines) text += stack + " " + std::to_string(count) + "\n";
    const std::string path = folder_ / ("run" + std::to_string(sources_.size()) + ".folded");
    EXPECT_TRUE(write_file(path, text).ok());
    sources_.push_back({.path = path, .set = set});
  }
  [[nodiscard]] ProfileDiff diff(const ReportOptions& options = {}) const {
    return load_diff(sources_, options).value();
  }
  [[nodiscard]] std::string text(const char* format, ReportOptions options = {}) const {
    options.out = std::fopen((folder_ / "report").c_str(), "w");
    const auto written = find_report(format).value()->write_all(sources_, options);
    EXPECT_TRUE(written.ok()) << written.error().message;
    std::fclose(options.out);
    return read_file(folder_ / "report").value();
  }

 private:
  TempFolder folder_;
  std::vector<ProfileSource> sources_;
};

uint32_t named(const ProfileDiff& diff, std::string_view name) {
  for (uint32_t i = 0; i < diff.profile.functions.size(); ++i) {
    const Function& function = diff.profile.functions[i];
    if (function.name == name && function.total.samples > 0) return i;
  }
  ADD_FAILURE() << "no function " << name;
  return 0;
}

struct Planted : Sides {
  Planted() {
    add({{"main;parse", 500}, {"main;work;hot", 100}, {"main;old", 30}, {"main;work", 370}}, 0);
    add({{"main;parse", 480}, {"main;work;hot", 700}, {"main;new", 40}, {"main;work", 390}}, 1);
  }
};

TEST(Diff, FindsWhatChangedAndItsPath) {
  const Planted sides;
  const ProfileDiff diff = sides.diff();
  const Change hot = diff.self_of(named(diff, "hot"));
  EXPECT_DOUBLE_EQ(hot.before, 0.1);
  EXPECT_DOUBLE_EQ(hot.after, 700.0 / 1610);
  EXPECT_TRUE(hot.seen);
  EXPECT_TRUE(diff.total_of(named(diff, "work")).seen);
  EXPECT_FALSE(diff.total_of(named(diff, "main")).seen);
  EXPECT_EQ(diff.profile.functions[functions_by_change(diff)[0]].name, "hot");
  const std::string table = sides.text("diff");
  EXPECT_NE(table.find("10.00 → 43.48 %"), std::string::npos) << table;
  EXPECT_NE(table.find("appeared"), std::string::npos);
  EXPECT_NE(table.find("vanished"), std::string::npos);
}

TEST(Diff, ByAmountTheRestStandsStill) {
  const Planted sides;
  const ProfileDiff diff = sides.diff({.normalised = false});
  EXPECT_TRUE(diff.self_of(named(diff, "hot")).seen);
  EXPECT_FALSE(diff.self_of(named(diff, "parse")).seen) << "500 and 480 are much the same";
  EXPECT_TRUE(sides.diff().self_of(named(diff, "parse")).seen) << "as a share it shrank";
}

std::vector<std::string> colours_in(const std::string& svg) {
  static const std::regex kBox(
      "<g class=\"f\"[^>]*><title>[^<]*</title><rect [^>]*fill=\"([^\"]*)\"");
  std::vector<std::string> found;
  for (std::sregex_iterator at(svg.begin(), svg.end(), kBox), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

Folded random_run(uint32_t seed, int stacks, int mean) {
  std::mt19937 random(seed);
  std::poisson_distribution<int> count(mean);
  Folded lines;
  for (int i = 0; i < stacks; ++i)
    if (const int of = count(random); of > 0)
      lines.emplace_back("main;f" + std::to_string(i % 40) + ";g" + std::to_string(i), of);
  return lines;
}

Folded sum_of(const std::vector<Folded>& runs) {
  std::map<std::string, int> sums;
  for (const Folded& run : runs)
    for (const auto& [stack, count] : run) sums[stack] += count;
  return {sums.begin(), sums.end()};
}

// One configuration of three and all of them: what remains is the other two.
TEST(Diff, ASideThatContainsTheOtherIsComparedWithoutIt) {
  const std::vector<Folded> runs = {random_run(1, 600, 2), random_run(2, 600, 2),
                                    random_run(3, 600, 2)};
  Sides contained, apart;
  contained.add(sum_of(runs), 0);
  contained.add(runs[1], 1);
  apart.add(sum_of({runs[0], runs[2]}), 0);
  apart.add(runs[1], 1);
  const ProfileDiff found = contained.diff(), expected = apart.diff();
  EXPECT_NE(found.overlap.find("contains it"), std::string::npos) << found.overlap;
  EXPECT_EQ(expected.overlap, "") << "runs that share nothing";
  EXPECT_EQ(found.sides[0].all.samples, expected.sides[0].all.samples);
  EXPECT_EQ(found.profile.total.samples, expected.profile.total.samples);
  EXPECT_EQ(found.names[0], "run0.folded without run1.folded");
  for (const char* name : {"f0", "f7", "g11", "g500"}) {
    const Change a = found.self_of(named(found, name));
    const Change b = expected.self_of(named(expected, name));
    EXPECT_DOUBLE_EQ(a.delta, b.delta) << name;
    EXPECT_DOUBLE_EQ(a.interval.low, b.interval.low) << name;
  }
  EXPECT_EQ(contained.diff({.contained = ReportOptions::Contained::kNo}).sides[0].all.samples,
            sum_of(runs).empty() ? 0 : expected.profile.total.samples);
}

// A file that `cat` made of others has each of their lines, however few these are.
TEST(Diff, FilesPutTogetherContainTheirParts) {
  Sides sides;
  sides.add({{"m;a", 100}, {"m;b", 50}, {"m;a", 20}, {"m;c", 80}}, 0);
  sides.add({{"m;a", 100}, {"m;b", 50}}, 1);
  const ProfileDiff diff = sides.diff();
  EXPECT_EQ(diff.sides[0].all.samples, 100);
  EXPECT_EQ(diff.self_of(named(diff, "a")).before, 0.2);
}

// A longer run of few stacks has each at least as often, too.
TEST(Diff, ALongerRunIsNotTakenForTheAggregate) {
  Sides sides;
  sides.add({{"m;a", 1000}, {"m;b", 400}}, 0);
  sides.add({{"m;a", 101}, {"m;b", 39}}, 1);
  const ProfileDiff diff = sides.diff();
  EXPECT_EQ(diff.sides[0].all.samples, 1400);
  EXPECT_NE(diff.overlap.find("--contained yes"), std::string::npos) << diff.overlap;
  EXPECT_EQ(sides.diff({.contained = ReportOptions::Contained::kYes}).sides[0].all.samples, 1260);
}

TEST(Diff, TheSameRunOnBothSidesIsRemovedFromTheLarger) {
  const TempFolder folder;
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(write_file(folder / name, std::string("main;") + name + " 7\nmain;x 3\n").ok());
  }
  const auto source = [&](const char* name, uint32_t set) {
    return ProfileSource{.path = folder / name, .set = set};
  };
  const std::vector<ProfileSource> all = {source("a", 0), source("b", 0), source("c", 0),
                                          source("b", 1)};
  const ProfileDiff diff = load_diff(all, {}).value();
  EXPECT_EQ(diff.sides[0].all.samples, 20);
  EXPECT_EQ(diff.runs_before, 2U);
  EXPECT_NE(diff.overlap.find("before contains all of the side after"), std::string::npos)
      << diff.overlap;
  const std::vector<ProfileSource> partly = {source("a", 0), source("b", 0), source("b", 1),
                                             source("c", 1)};
  EXPECT_NE(load_diff(partly, {}).value().overlap.find("1 run is on both sides"),
            std::string::npos);
}

TEST(Diff, ConfigurationsOfASideAreNoRepetitions) {
  const TempFolder folder;
  std::vector<ProfileSource> sources;
  const auto add = [&](const char* label, int a, int b, uint32_t set) {
    const std::string path = folder / ("r" + std::to_string(sources.size()));
    ASSERT_TRUE(
        write_file(path, "m;a " + std::to_string(a) + "\nm;b " + std::to_string(b) + "\n").ok());
    sources.push_back({.path = path, .label = label, .set = set});
  };
  add("x", 100, 900, 0);
  add("y", 900, 100, 0);
  add("z", 500, 520, 1);
  const ProfileDiff configurations = load_diff(sources, {}).value();
  EXPECT_EQ(configurations.noise, 1);
  EXPECT_FALSE(configurations.has_repetitions);
  EXPECT_EQ(configurations.overlap, "");
  EXPECT_NE(diff_notes(configurations)[0].find("not repetitions"), std::string::npos);
  for (ProfileSource& source : sources) source.label = "";
  const ProfileDiff repetitions = load_diff(sources, {}).value();
  EXPECT_GT(repetitions.noise, 10);
  EXPECT_NE(diff_notes(repetitions)[0].find("square root of chi-square"), std::string::npos);
}

// What was recorded and what folded files hold are of one event then.
TEST(Diff, FoldedStacksTakeTheEventOfARecording) {
  MadeSamples made;
  made.process(1, "p");
  for (int i = 0; i < 40; ++i)
    made.add({.stack = {"main@/bin/p", i < 30 ? "hot@/bin/p" : "read_[k]"},
              .weight = 10'000,
              .pid = 1,
              .tid = 1,
              .event = "cpu-clock",
              .time_ns = i});
  const Recording recording = made.finish();
  const TempFolder folder;
  ASSERT_TRUE(write_file(folder / "a.folded", "p;main;hot 60\np;main;read_[k] 20\n").ok());
  const std::vector<ProfileSource> sources = {
      {.path = recording.path(), .recording = recording, .set = 0},
      {.path = folder / "a.folded", .set = 1}};
  const ProfileDiff diff = load_diff(sources, {}).value();
  EXPECT_EQ(diff.profile.event, "cpu-clock");
  EXPECT_EQ(diff.sides[0].all.samples, 40);
  EXPECT_EQ(diff.sides[1].all.samples, 80);
  for (uint32_t i = 0; i < diff.profile.tree.nodes.size(); ++i)
    EXPECT_EQ(diff.node(i).delta, 0) << "the same shares";
  EXPECT_NE(diff_notes(diff).back().find("Folded stacks have no event"), std::string::npos);
}

TEST(Diff, OfARunWithItselfIsGrey) {
  Sides sides;
  const Folded lines = {{"main;a;b", 500}, {"main;c", 1}, {"main;a", 77}, {"x", 3}};
  sides.add(lines, 0);
  sides.add(lines, 1);
  const std::vector<std::string> colours = colours_in(sides.text("diff-flamegraph"));
  ASSERT_EQ(colours.size(), 6U);
  for (const std::string& colour : colours)
    EXPECT_TRUE(colour == "#d9dce1" || colour == "#d9dde3") << colour;
  EXPECT_NE(sides.text("diff").find("No function differs"), std::string::npos);
  const ProfileDiff diff = sides.diff();
  for (uint32_t i = 0; i < diff.profile.tree.nodes.size(); ++i) EXPECT_EQ(diff.node(i).delta, 0);
}

TEST(Diff, PictureIsRedWhereThereIsMoreAndBlueWhereThereIsLess) {
  const std::string svg = Planted().text("diff-flamegraph");
  const std::vector<std::string> colours = colours_in(svg);
  EXPECT_TRUE(std::any_of(colours.begin(), colours.end(), [](const std::string& colour) {
    return colour != "#d9dce1" && colour != "#d9dde3";
  })) << "what is grey of a run and itself is not so here";
  EXPECT_NE(svg.find("data-m=\"+ \"><title>new"), std::string::npos);
  EXPECT_NE(svg.find("data-m=\"− \"><title>old"), std::string::npos);
  const auto colour_of = [&](const std::string& name) {
    const std::regex box("<title>" + name + "\n[^<]*</title><rect [^>]*fill=\"#(..)(..)(..)\"");
    std::smatch found;
    EXPECT_TRUE(std::regex_search(svg, found, box)) << name;
    return std::pair(std::stoi(found[1], nullptr, 16), std::stoi(found[3], nullptr, 16));
  };
  EXPECT_GT(colour_of("hot").first, colour_of("hot").second + 60);
  EXPECT_LT(colour_of("parse").first, colour_of("parse").second - 40);
}

TEST(Diff, PictureAndPageSayWhatColoursAndSignsMean) {
  const Planted sides;
  const std::string svg = sides.text("diff-flamegraph");
  const std::string keys = svg.substr(svg.find("<g class=\"keys\""));
  for (const char* words :
       {">more</text>", "#e8503a", ">less</text>", "#4a86dd", "#d9dce1",
        ">no more than chance</text>", ">+ appeared</text>", ">− vanished</text>"})
    EXPECT_NE(keys.find(words), std::string::npos) << words << " in " << keys;
  const std::string page = sides.text("diff-html");
  for (const char* words : {"key more\"></span>more in run1", "key less\"></span>less",
                            "key same\"></span>no more than chance", "sign\">+</span>appeared",
                            "sign\">−</span>vanished"})
    EXPECT_NE(page.find(words), std::string::npos) << words;
}

TEST(Diff, WidthsFillTheirCallersAndFollowTheSideAskedFor) {
  static const std::regex kBox("data-s=\"(\\d+)\" data-w=\"(\\d+)\"[^>]*><title>([^\n]*)");
  const Planted sides;
  const auto widths = [&](ReportOptions::Width width) {
    const std::string svg = sides.text("diff-flamegraph", {.width = width});
    std::map<std::string, int64_t> found;
    for (std::sregex_iterator at(svg.begin(), svg.end(), kBox), end; at != end; ++at)
      found[(*at)[3]] = std::stoll((*at)[2]);
    return found;
  };
  auto both = widths(ReportOptions::Width::kBoth);
  EXPECT_EQ(both.at("main"), both.at("parse") + both.at("work") + both.at("old") + both.at("new"));
  EXPECT_NEAR(static_cast<double>(both.at("old")) / static_cast<double>(both.at("main")), 0.015,
              1e-6);
  EXPECT_EQ(widths(ReportOptions::Width::kBefore).count("new"), 0U);
  EXPECT_EQ(widths(ReportOptions::Width::kAfter).count("old"), 0U);
}

// Runs that differ more than chance says must not make differences of noise.
TEST(Diff, RepetitionsSayHowMuchRunsDiffer) {
  std::mt19937 random(5);
  std::normal_distribution<double> jitter(0, 60);
  const auto run = [&]() -> Folded {
    const int shift = static_cast<int>(jitter(random));
    return {{"main;a", 1000 + shift}, {"main;b", 1000 - shift}, {"main;c", 500}};
  };
  Sides once, often;
  const Folded low = {{"main;a", 900}, {"main;b", 1100}, {"main;c", 500}};
  const Folded high = {{"main;a", 1100}, {"main;b", 900}, {"main;c", 500}};
  once.add(low, 0);
  once.add(high, 1);
  EXPECT_TRUE(once.diff().self_of(named(once.diff(), "a")).seen);
  often.add(low, 0);
  often.add(high, 1);
  for (int i = 0; i < 4; ++i) {
    often.add(run(), 0);
    often.add(run(), 1);
  }
  const ProfileDiff diff = often.diff();
  EXPECT_GT(diff.noise, 2);
  EXPECT_FALSE(diff.self_of(named(diff, "a")).seen);
}

// Two draws from one distribution, many times: what is called a difference must be rare.
TEST(Diff, ChanceIsSeldomCalledADifference) {
  std::mt19937 random(17);
  int alarms = 0;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    Sides sides;
    for (uint32_t set = 0; set < 2; ++set) {
      std::map<std::string, int> counts;
      for (int i = 0; i < 1000; ++i) {
        const auto place = static_cast<int>(std::sqrt(static_cast<double>(random() % 900)));
        ++counts["main;f" + std::to_string(place)];
      }
      sides.add(Folded(counts.begin(), counts.end()), set);
    }
    const ProfileDiff diff = sides.diff();
    bool any = false;
    for (uint32_t i = 0; i < diff.profile.functions.size(); ++i) any |= diff.self_of(i).seen;
    alarms += any ? 1 : 0;
  }
  EXPECT_LE(alarms, kRounds / 10) << "5 % are expected at most";
}

TEST(Diff, FoldedHasBothCounts) {
  EXPECT_EQ(Planted().text("diff-folded"),
            "main;new 0 40\nmain;old 30 0\nmain;parse 500 480\nmain;work 370 390\n"
            "main;work;hot 100 700\n");
}

TEST(Diff, NeedsTwo) {
  MadeSamples made;
  made.add({.stack = {"a"}});
  const ProfileSource one = ProfileSource::of(made.finish());
  EXPECT_EQ(load_diff(ProfileSources(&one, 1), {}).error().code, Code::kInvalid);
}

TEST(Diff, NormalTailIsThatOfTheTables) {
  EXPECT_NEAR(normal_tail(0.025), 1.95996, 5e-4);
  EXPECT_NEAR(normal_tail(0.0005), 3.29053, 5e-4);
}

}  // namespace
}  // namespace fathom
