// SPDX-License-Identifier: Apache-2.0
#include "probe/line_buffer.h"

#include <gtest/gtest.h>

#include <vector>

namespace fathom {
namespace {

using Lines = std::vector<std::string>;

struct Taken {
  LineBuffer buffer;
  Lines lines;
  void add(std::string_view bytes) {
    buffer.add(bytes, [this](std::string_view line) { lines.emplace_back(line); });
  }
  void end() {
    buffer.end([this](std::string_view line) { lines.emplace_back(line); });
  }
};

TEST(LineBuffer, GivesTheSameLinesHoweverTheyAreCut) {
  const std::string text = "one\n\n\ntwo\r\nthree words here\n\nlast";
  for (size_t step = 1; step <= text.size(); ++step) {
    Taken taken;
    for (size_t at = 0; at < text.size(); at += step) taken.add(text.substr(at, step));
    EXPECT_EQ(taken.lines, (Lines{"one", "two", "three words here"})) << step;
    taken.end();
    EXPECT_EQ(taken.lines.back(), "last") << step;
    EXPECT_EQ(taken.buffer.too_long(), 0);
  }
}

TEST(LineBuffer, LeavesOutWhatIsTooLongAndGoesOn) {
  const std::string longest(LineBuffer::kMostBytes, 'x');
  for (const size_t step : {size_t{1000}, size_t{70'000}, size_t{1'000'000}}) {
    Taken taken;
    const std::string text = longest + "\n" + longest + "y\nshort\n" + longest + longest;
    for (size_t at = 0; at < text.size(); at += step) taken.add(text.substr(at, step));
    ASSERT_EQ(taken.lines.size(), 2U) << step;
    EXPECT_EQ(taken.lines[0], longest);
    EXPECT_EQ(taken.lines[1], "short");
    EXPECT_EQ(taken.buffer.too_long(), 1);
    taken.end();
    EXPECT_EQ(taken.buffer.too_long(), 2);
    EXPECT_EQ(taken.lines.size(), 2U);
  }
}

TEST(LineBuffer, NothingIsNoLine) {
  Taken taken;
  taken.add("");
  taken.end();
  taken.end();
  EXPECT_TRUE(taken.lines.empty());
}

}  // namespace
}  // namespace fathom
