// SPDX-License-Identifier: Apache-2.0
// Reports at the width of a terminal: tests/data/terminal/NAME.COLUMNS is what it shows. After a
// change that is meant, FATHOM_ACCEPT=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "report/made_samples.h"
#include "support/folders.h"
#include "support/report_text.h"

namespace fathom {
namespace {

constexpr const char* kLong = "a_function_whose_name_is_longer_than_any_terminal_leaves_room_for";
constexpr const char* kTemplate =
    "std::map<std::string, std::vector<int>>::find(std::string const&)";

class TerminalWidth : public testing::TestWithParam<size_t> {
 protected:
  void add(const char* label, uint32_t set, const std::map<std::string, int>& lines) {
    std::string text;
    for (const auto& [stack, count] : lines) text += stack + " " + std::to_string(count) + "\n";
    const std::string path = folder_ / (std::string(label) + ".folded");
    ASSERT_TRUE(write_file(path, text).ok());
    sources_.push_back({.path = path, .label = label, .set = set});
  }
  [[nodiscard]] std::string text(const char* format, size_t columns) const {
    return report_text(format, sources_, columns);
  }
  // Every line fits, it is what it was, and where nothing has to fit the names are whole.
  void check(const char* format, std::string_view name) {
    const std::string shown = text(format, GetParam());
    for (const std::string_view line : split_words(shown, '\n'))
      EXPECT_LE(display_width(line), GetParam()) << line;
    EXPECT_EQ(shown.find(name), std::string::npos) << "too long for a terminal";
    EXPECT_NE(text(format, kAnyWidth).find(name), std::string::npos) << "a pipe has it whole";
    const std::string path = test_data() + "/terminal/" + format + "." + std::to_string(GetParam());
    if (std::getenv("FATHOM_ACCEPT") != nullptr) {
      ASSERT_TRUE(write_file(path, shown).ok());
    }
    const auto expected = read_file(path);
    ASSERT_TRUE(expected.ok()) << expected.error().message;
    EXPECT_EQ(shown, expected.value());
  }

  TempFolder folder_;
  std::vector<ProfileSource> sources_;
};

const std::string kMain = "p;main;";

TEST_P(TerminalWidth, Diff) {
  add("before", 0,
      {{kMain + kLong, 500}, {kMain + kTemplate, 400}, {kMain + "old", 90}, {"x", 10}});
  add("after", 1, {{kMain + kLong, 100}, {kMain + kTemplate, 800}, {kMain + "new", 89}, {"x", 11}});
  check("diff", kLong);
}

TEST_P(TerminalWidth, Contribution) {
  add("one", 0, {{kMain + "a", 10}, {kMain + "b", 1}, {kMain + "c", 1}});
  add("a_configuration_with_a_name_that_says_all_there_is_to_know_of_it", 0,
      {{kMain + "a", 20}, {kMain + "d", 4}});
  check("contribution", "  a_configuration_with_a_name_that_says_all_there_is_to_know_of_it  ");
}

TEST_P(TerminalWidth, Rates) {
  MadeSamples made;
  for (const int64_t rate : {100, 444, 999, 1500}) {
    for (int64_t i = 0; i < 2 * rate; ++i) {
      const bool is_long = rate == 100 ? i % 10 != 0 : i % 2 == 0;
      made.add({.stack = {"main", is_long ? kLong : kTemplate},
                .weight = 1'000'000'000 / (100 + 444 + 999 + 1500),
                .rate_hz = rate});
    }
  }
  made.run().command = made.out().string(std::string("./in_step --with ") + kLong);
  sources_.push_back(ProfileSource::of(made.finish()));
  check("rates", kLong);
}

INSTANTIATE_TEST_SUITE_P(Columns, TerminalWidth, testing::Values(60, 80));

}  // namespace
}  // namespace fathom
