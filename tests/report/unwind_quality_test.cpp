// SPDX-License-Identifier: Apache-2.0
#include "report/unwind_quality.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "probe/stack_builder.h"
#include "report/made_samples.h"

namespace fathom {
namespace {

TEST(QualityWords, EveryWordOfTheProbeIsExplainedOnOneLine) {
  for (int end = 1; end < static_cast<int>(StackEnd::kCount); ++end) {
    const std::string word = stack_end_name(static_cast<StackEnd>(end));
    const auto lines = quality_words({.samples = 10, .complete = 9, .others = {{word, 1}}});
    ASSERT_EQ(lines.size(), 1U) << word;
    EXPECT_TRUE(lines[0].starts_with(word + ": ")) << lines[0];
    EXPECT_LE(display_width(lines[0]), 76U) << lines[0];
  }
}

TEST(QualityWords, OnlyOfWhatIsMoreThanAFewPercent) {
  const UnwindQuality quality{
      .samples = 100, .complete = 60, .others = {{"cut", 9}, {"joined", 30}, {"bad rule", 1}}};
  const auto lines = quality_words(quality);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].starts_with("joined: ")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("cut: ")) << lines[1];
  EXPECT_TRUE(quality_words({.samples = 100, .complete = 99, .others = {{"cut", 1}}}).empty());
  EXPECT_TRUE(quality_words({.samples = 2, .complete = 1, .others = {{"new word", 1}}}).empty());
}

TEST(QualityWords, StandBelowTheFigures) {
  MadeSamples made;
  made.stacks_probe();
  made.add({.stack = {"main", "f"}, .unwind = "no table"});
  const Recording recording = made.finish();
  for (const char* format : {"top", "tree", "summary"}) {
    const std::string text = report_text(recording, format);
    const size_t figures = text.find("100 % no table");
    ASSERT_NE(figures, std::string::npos) << text;
    EXPECT_EQ(text.find("no table: code without", figures), text.find("no table: code without"));
    EXPECT_NE(text.find("no table: code without"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace fathom
