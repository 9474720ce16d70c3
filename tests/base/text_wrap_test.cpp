// SPDX-License-Identifier: Apache-2.0
#include "base/text_wrap.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Wrap, KeepsWithinTheColumns) {
  EXPECT_EQ(wrap("one two three", 7, 0), "one two\nthree");
  EXPECT_EQ(wrap("one two three", 9, 2), "one two\n  three") << "the first line starts there, too";
  EXPECT_EQ(wrap("", 7, 2), "");
}

TEST(Wrap, LongWordsStayWholeOrAreCut) {
  EXPECT_EQ(wrap("a /a/long/path b", 8, 2), "a\n  /a/long/path\n  b");
  EXPECT_EQ(wrap("a /a/long/path b", 8, 2, LongWord::kCut), "a\n  /a/…th\n  b");
}

}  // namespace
}  // namespace fathom
