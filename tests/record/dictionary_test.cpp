// SPDX-License-Identifier: Apache-2.0
#include "record/dictionary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace fathom {
namespace {

TEST(InternerTest, EqualThingsHaveEqualIds) {
  Interner names;
  EXPECT_EQ(names.string(""), StringId::kNone);
  const StringId hello = names.string("hello");
  EXPECT_EQ(names.string(std::string("hel") + "lo"), hello);
  EXPECT_NE(names.string(std::string("hello\0", 6)), hello);
  EXPECT_EQ(names.text(hello), "hello");
  EXPECT_EQ(names.thread(1, 2), names.thread(1, 2));
  EXPECT_NE(names.thread(1, 2), names.thread(2, 1));
  EXPECT_NE(names.thread(0, 0), ThreadId::kNone);
  Frame frame;
  frame.symbol = hello;
  const FrameId first = names.frame(frame);
  EXPECT_EQ(names.frame(frame), first);
  for (int i = 0; i < 2; ++i) {
    frame.line = i == 0 ? 7 : 0;
    frame.kind = i == 0 ? FrameKind::kUnknown : FrameKind::kJava;
    EXPECT_NE(names.frame(frame), first);
  }
  const StackId root = names.stack(StackId::kNone, first);
  EXPECT_EQ(names.stack(StackId::kNone, first), root);
  EXPECT_NE(names.stack(root, first), root);
}

TEST(InternerTest, TextsStayWhereTheyAre) {
  Interner names;
  const StringId first = names.string("first");
  const char* place = names.text(first).data();
  for (int i = 0; i < 100'000; ++i) names.string("text " + std::to_string(i));
  const StringId huge = names.string(std::string(1 << 20, 'h'));
  EXPECT_EQ(names.text(first).data(), place);
  EXPECT_EQ(names.text(first), "first");
  EXPECT_EQ(names.text(huge).size(), 1U << 20);
  EXPECT_EQ(names.text(names.string("text 77777")), "text 77777");
}

TEST(InternerTest, DetailsAreComparedByTypeAndBits) {
  Interner names;
  const StringId key = names.string("k");
  const auto detail = [&](DetailValue value) {
    return names.detail(std::vector<DetailItem>{{key, value}});
  };
  EXPECT_EQ(names.detail({}), DetailId::kNone);
  EXPECT_EQ(detail(int64_t{1}), detail(int64_t{1}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(detail(nan), detail(nan));
  const std::set<DetailId> different = {detail(int64_t{1}), detail(1.0),  detail(names.string("1")),
                                        detail(0.0),        detail(-0.0), detail(int64_t{0})};
  EXPECT_EQ(different.size(), 6U);
  const std::vector<DetailItem> many(100, {key, int64_t{5}});
  EXPECT_EQ(names.dictionary().items(names.detail(many)).size(), 64U);
}

TEST(DictionaryTest, DetailsAsJson) {
  Interner names;
  const auto json = [&](DetailValue value) {
    const std::vector<DetailItem> items = {{names.string("k\"ey"), value}};
    return names.dictionary().detail_json(names.detail(items));
  };
  EXPECT_EQ(names.dictionary().detail_json(DetailId::kNone), "");
  EXPECT_EQ(json(std::numeric_limits<int64_t>::min()), R"({"k\"ey":-9223372036854775808})");
  EXPECT_EQ(json(1.0), R"({"k\"ey":1.0})");
  EXPECT_EQ(json(1e300), R"({"k\"ey":1e+300})");
  EXPECT_EQ(json(std::nan("")), R"({"k\"ey":null})");
  EXPECT_EQ(json(-HUGE_VAL), R"({"k\"ey":null})");
  EXPECT_EQ(json(names.string("a\nb")), R"({"k\"ey":"a\nb"})");
  EXPECT_EQ(json(StringId::kNone), R"({"k\"ey":""})");
}

// Their ids depend on what they hold and not on when it was interned.
TEST(DictionaryTest, StackHashesDependOnContentAlone) {
  const auto make = [](Interner& names) {
    Frame frame;
    frame.symbol = names.string("main");
    const StackId root = names.stack(StackId::kNone, names.frame(frame));
    frame.symbol = names.string("work");
    frame.line = 12;
    return names.stack(root, names.frame(frame));
  };
  Interner one;
  Interner other;
  for (int i = 0; i < 10; ++i) {
    Frame frame;
    frame.symbol = other.string("other " + std::to_string(i));
    other.stack(StackId::kNone, other.frame(frame));
  }
  const StackId first = make(one);
  const StackId second = make(other);
  EXPECT_NE(first, second);
  EXPECT_EQ(one.dictionary().stack_hashes()[index_of(first)],
            other.dictionary().stack_hashes()[index_of(second)]);
  const std::vector<uint64_t> hashes = other.dictionary().stack_hashes();
  EXPECT_EQ(std::set<uint64_t>(hashes.begin(), hashes.end()).size(), hashes.size());
}

TEST(DictionaryTest, EveryKindHasAName) {
  std::set<std::string> kinds;
  for (size_t i = 0; i <= static_cast<size_t>(kLastFrameKind); ++i) {
    kinds.insert(frame_kind_name(static_cast<FrameKind>(i)));
  }
  EXPECT_EQ(kinds.size(), static_cast<size_t>(kLastFrameKind) + 1);
}

}  // namespace
}  // namespace fathom
