// SPDX-License-Identifier: Apache-2.0
#include "spool/known_names.h"

#include <gtest/gtest.h>

#include "support/memory_sink.h"

namespace fathom {
namespace {

class KnownNamesTest : public ::testing::Test {
 protected:
  std::string text_of(std::string_view text) {
    return std::string(out_.names().text(names_.text(text)));
  }

  MemorySink sink_;
  RecordStream out_{sink_};
  KnownNames names_{out_};
};

TEST_F(KnownNamesTest, ATextIsWhatLiesThereNow) {
  std::string place = "one";
  EXPECT_EQ(text_of(place), "one");
  EXPECT_EQ(names_.text(place), out_.string("one"));
  place[0] = 'O';
  EXPECT_EQ(text_of(place), "One");
  EXPECT_EQ(text_of(std::string_view(place).substr(0, 2)), "On");
  EXPECT_EQ(text_of("a\x01"), "a\\x01");
}

TEST_F(KnownNamesTest, MoreTextsThanAreKept) {
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i) texts.push_back("text " + std::to_string(i));
  for (int round = 0; round < 2; ++round)
    for (const std::string& text : texts) EXPECT_EQ(text_of(text), text);
}

TEST_F(KnownNamesTest, IdsFromBeforeARenewalAreForgotten) {
  const std::string first = "first", second = "second";
  (void)names_.text(first);
  const StringId before = names_.text(second);
  (void)names_.thread(7, 7);
  const ThreadId thread = names_.thread(7, 8);
  out_.renew_names(0);
  EXPECT_EQ(text_of(second), "second");
  EXPECT_NE(names_.text(second), before);
  EXPECT_NE(names_.thread(7, 8), thread);
  EXPECT_EQ(names_.thread(7, 8), out_.names().thread(7, 8));
}

}  // namespace
}  // namespace fathom
