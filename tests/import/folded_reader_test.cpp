// SPDX-License-Identifier: Apache-2.0
#include "import/folded_reader.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/fd.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

// Stacks as they come out again, with what they weigh.
std::map<std::string, int64_t> sums_in(const SampleSums& sums, size_t source = 0) {
  std::map<std::string, int64_t> found;
  for (const SampleSum& sum : sums.sums_of(source)) {
    std::string text;
    for (uint32_t at = sum.stack; at != 0; at = sums.stacks()[at].parent) {
      const Frame& frame = sums.names().frames[index_of(sums.stacks()[at].frame)];
      std::string name = std::string(sums.text(frame.symbol)) + "/" + frame_kind_name(frame.kind);
      text = text.empty() ? name : name + ";" + text;
    }
    EXPECT_EQ(sum.samples, sum.weight);
    EXPECT_TRUE(found.emplace(text, sum.weight).second) << "twice: " << text;
  }
  return found;
}

Result<ImportCounts> read_text(const std::string& text, SampleSums& sums) {
  const TempFolder folder;
  EXPECT_TRUE(write_file(folder / "a.folded", text).ok());
  return read_folded(folder / "a.folded", sums);
}

TEST(FoldedReader, AddsUpLinesOfOneStack) {
  SampleSums sums;
  const auto counts = read_text(
      "a;b 3\na;b;c_[k] 4\r\na;b 5\n\na;bb 1\nb;a 2\nnonsense\na;b;c_[k] -1\nend 7", sums);
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ(counts.value().lines, 6);
  EXPECT_EQ(counts.value().skipped, 2);
  const std::map<std::string, int64_t> expected = {{"a/native;b/native", 8},
                                                   {"a/native;b/native;c/kernel", 4},
                                                   {"a/native;bb/native", 1},
                                                   {"b/native;a/native", 2},
                                                   {"end/native", 7}};
  EXPECT_EQ(sums_in(sums), expected);
}

TEST(FoldedReader, EmptyNamesAreNoFrames) {
  SampleSums sums;
  ASSERT_TRUE(read_text(";a;;b; 3\na;b 4\n;; 1\n", sums).ok());
  EXPECT_EQ(sums.stacks().size(), 3U) << "none, a and a;b";
  int64_t weight = 0;
  for (const SampleSum& sum : sums.sums()) weight += sum.weight;
  EXPECT_EQ(weight, 8);
}

// Against one that remembers nothing from line to line.
TEST(FoldedReader, AgreesWithAPlainReaderOnAnything) {
  std::mt19937 random(11);
  std::string text;
  std::map<std::string, int64_t> expected;
  for (int i = 0; i < 20'000; ++i) {
    std::string line, name;
    for (size_t depth = 1 + random() % 9; depth > 0; --depth) {
      const std::string frame(1 + random() % 3, static_cast<char>('a' + random() % 3));
      line += (line.empty() ? "" : ";") + frame;
      name += (name.empty() ? "" : ";") + frame + "/native";
    }
    const int64_t count = 1 + static_cast<int64_t>(random() % 99);
    expected[name] += count;
    text += line + " " + std::to_string(count) + "\n";
  }
  SampleSums sums;
  ASSERT_TRUE(read_text(text, sums).ok());
  EXPECT_EQ(sums_in(sums), expected);
}

TEST(FoldedReader, LinesLongerThanABlockAreWhole) {
  const std::string name(700'000, 'x');
  SampleSums sums;
  ASSERT_TRUE(read_text("a;" + name + " 3\n" + name + ";b 2\n", sums).ok());
  const std::map<std::string, int64_t> expected = {{"a/native;" + name + "/native", 3},
                                                   {name + "/native;b/native", 2}};
  EXPECT_EQ(sums_in(sums), expected);
}

TEST(FoldedReader, SourcesStayApart) {
  SampleSums sums;
  ASSERT_TRUE(read_text("a;b 3\n", sums).ok());
  sums.next_source();
  ASSERT_TRUE(read_text("a;b 4\na 1\n", sums).ok());
  EXPECT_EQ(sums_in(sums, 0), (std::map<std::string, int64_t>{{"a/native;b/native", 3}}));
  EXPECT_EQ(sums_in(sums, 1),
            (std::map<std::string, int64_t>{{"a/native;b/native", 4}, {"a/native", 1}}));
}

TEST(FoldedReader, RefusesWhatHoldsNoStackAndWhatAddsUpToNonsense) {
  SampleSums sums;
  EXPECT_EQ(read_text("hello\n", sums).error().code, Code::kCorrupt);
  EXPECT_EQ(read_text("", sums).error().code, Code::kCorrupt);
  const std::string much = "a 9007199254740992\n";
  EXPECT_EQ(read_text(much + much, sums).error().code, Code::kCorrupt);
  EXPECT_EQ(read_folded("/nowhere/at/all", sums).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace fathom
