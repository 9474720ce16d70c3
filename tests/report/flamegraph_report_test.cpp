// SPDX-License-Identifier: Apache-2.0
#include "report/flamegraph_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <regex>

#include "base/subprocess.h"
#include "report/flame_colours.h"
#include "report/flame_layout.h"
#include "report/made_samples.h"
#include "report/xml_text.h"

namespace fathom {
namespace {

// What a real XML parser says of it: "" or its complaint.
std::string xml_complaint(const std::string& xml, const std::vector<std::string>& options) {
  const TempFolder folder;
  EXPECT_TRUE(write_file(folder / "a.svg", xml).ok());
  std::vector<std::string> command = {"xmllint", "--huge"};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(folder / "a.svg");
  const auto run = run_to_end(command);
  if (!run.ok() || run.value().status == 127) return "absent";
  return run.value().output;
}

#define SKIP_WITHOUT_XMLLINT() \
  if (xml_complaint("<a/>", {"--noout"}) == "absent") GTEST_SKIP() << "no xmllint (libxml2-utils)"

TEST(FlamegraphReport, HostileNamesStayText) {
  SKIP_WITHOUT_XMLLINT();
  MadeSamples made;
  made.run().command = made.out().string("sh -c '<b>]]>' \xff\x01");
  for (const std::string& name : hostile_names()) {
    made.process(1, name);
    made.add({.stack = {fmt::format("{}@/lib/{}", name, name), "leaf", name}, .pid = 1, .tid = 1});
    made.add({.stack = {name + "_[k]"}, .event = "cpu-clock", .unwind = name});
  }
  made.stacks_probe();
  const std::string svg = report_text(made.finish(), "flamegraph");
  EXPECT_EQ(xml_complaint(svg, {"--noout"}), "");
  const auto count = [&](const std::string& what) {
    return xml_complaint(svg, {"--xpath", "count(" + what + ")"});
  };
  EXPECT_EQ(count("//*[local-name()='script']"), "1\n");
  EXPECT_EQ(count("//@*[starts-with(name(), 'on')]"), "0\n");
  EXPECT_EQ(count("//@href | //@*[local-name()='href']"), "0\n");
  EXPECT_LT(svg.size(), 400'000U) << "long names are cut";
  EXPECT_NE(svg.find("xxx…"), std::string::npos);
}

struct Box {
  int64_t start, weight, y;
  double x, width;
};

std::vector<Box> boxes_of(const std::string& svg) {
  static const std::regex kBox(
      "data-s=\"(\\d+)\" data-w=\"(\\d+)\"><title>[^<]*</title>"
      "<rect x=\"([\\d.]+)\" y=\"(\\d+)\" width=\"([\\d.]+)\"");
  std::vector<Box> boxes;
  for (std::sregex_iterator at(svg.begin(), svg.end(), kBox), end; at != end; ++at) {
    boxes.push_back({std::stoll((*at)[1]), std::stoll((*at)[2]), std::stoll((*at)[4]),
                     std::stod((*at)[3]), std::stod((*at)[5])});
  }
  return boxes;
}

TEST(FlamegraphReport, BoxesAreAsWideAsTheirWeightAndWithinTheirCaller) {
  MadeSamples made;
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    MadeSample sample{.weight = 1 + static_cast<int64_t>(random() % 9)};
    for (size_t depth = 1 + random() % 8; depth > 0; --depth)
      sample.stack.push_back("f" + std::to_string(random() % 3));
    made.add(sample);
  }
  const Recording recording = made.finish();
  const Profile profile = load_profile(recording, {}).value();
  const std::string svg = report_text(recording, "flamegraph");
  EXPECT_NE(svg.find("Every frame is drawn"), std::string::npos);
  const std::vector<Box> boxes = boxes_of(svg);
  ASSERT_EQ(boxes.size(), profile.tree.nodes.size());
  EXPECT_EQ(boxes[0].weight, profile.total.weight);
  std::map<int64_t, std::vector<Box>> rows;
  for (const Box& box : boxes) {
    EXPECT_NEAR(
        box.x,
        10 + 1180.0 * static_cast<double>(box.start) / static_cast<double>(profile.total.weight),
        0.01);
    rows[box.y].push_back(box);
  }
  for (const auto& [y, row] : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) {
        EXPECT_GE(row[i].start, row[i - 1].start + row[i - 1].weight);
      }
      if (row[i].weight == profile.total.weight) continue;
      const auto& below = rows[y + 17];
      const Box& box = row[i];
      EXPECT_TRUE(std::any_of(below.begin(), below.end(), [&](const Box& caller) {
        return caller.start <= box.start && caller.start + caller.weight >= box.start + box.weight;
      }));
    }
  }
}

TEST(FlamegraphReport, SaysHowManyFramesAreTooNarrow) {
  MadeSamples made;
  made.add({.stack = {"wide"}, .weight = 1'000'000});
  made.add({.stack = {"narrow", "above it"}, .weight = 1});
  const std::string svg = report_text(made.finish(), "flamegraph");
  EXPECT_NE(svg.find("2 frames under 0.1 px are not drawn"), std::string::npos);
  EXPECT_EQ(boxes_of(svg).size(), 2U);
}

TEST(FlamegraphReport, SaysWhatItIsMadeOf) {
  MadeSamples made;
  made.stacks_probe();
  made.add({.stack = {"f"}, .weight = 10});
  made.add({.stack = {"f"}, .weight = 10, .unwind = "cut"});
  const std::string svg = report_text(made.finish(), "flamegraph");
  for (const char* part : {"make -j2", "2 samples of cpu-clock at 99 Hz", "run of 2.0 s",
                           "Stacks: 50.0 % complete, 50.0 % cut"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
}

TEST(FlamegraphReport, IsTheSameEveryTime) {
  MadeSamples one;
  MadeSamples two;
  one.add({.stack = {"a@x", "b"}});
  one.add({.stack = {"a@y", "c"}});
  two.add({.stack = {"a@y", "c"}});
  two.add({.stack = {"a@x", "b"}});
  EXPECT_EQ(report_text(one.finish(), "flamegraph"), report_text(two.finish(), "flamegraph"));
}

TEST(FlameLayout, StopsAtTheHighestLevel) {
  MadeSamples made;
  MadeSample deep;
  deep.stack.insert(deep.stack.end(), 50, "recurse");
  made.add(deep);
  const Profile profile = load_profile(made.finish(), {}).value();
  const FlameLayout layout =
      lay_out_flames(profile.tree, weights_of(profile.tree), {.max_levels = 20});
  EXPECT_EQ(layout.levels, 20U);
  EXPECT_EQ(layout.boxes.size(), 20U);
  EXPECT_EQ(layout.left_out, 31U);
}

TEST(FlameColours, DependOnKindAndModule) {
  const Function one{.name = "f", .module = "/lib/a.so", .kind = FrameKind::kNative};
  Function two = one;
  EXPECT_EQ(flame_colour(one), flame_colour(two));
  two.module = "/opt/a.so";  // the same file name
  EXPECT_EQ(flame_colour(one), flame_colour(two));
  two.module = "/lib/b.so";
  EXPECT_NE(flame_colour(one), flame_colour(two));
  two = one;
  two.kind = FrameKind::kKernel;
  EXPECT_NE(flame_colour(one), flame_colour(two));
  EXPECT_STREQ(colour_key(two).name, "kernel");
}

TEST(XmlText, EscapesAndCuts) {
  EXPECT_EQ(xml_text("a<b>&\"'", 80), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(xml_text("\xEF\xBF\xBE", 80), "\xEF\xBF\xBD");
  EXPECT_EQ(xml_text("abcdef", 4), "abc…");
}

}  // namespace
}  // namespace fathom
