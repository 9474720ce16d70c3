// SPDX-License-Identifier: Apache-2.0
#include "hub/frames_in.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/frame.h"

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Made {
  Interner names;
  Rows rows;
  void add(const char* symbol, const char* program, int64_t sum, const char* module = "") {
    rows.of<NodeSum>().push_back({names.string(symbol), names.string(module), names.string(program),
                                  names.string("cycles"), names.string("count"), sum});
  }
  std::string frame() const { return FrameEncoder().encode(names.dictionary(), rows).value(); }
};

Result<std::vector<Contribution>> read(const std::string& body) {
  return contributions_of_frames(body, {"r", "h", 5}, 1000);
}

TEST(FramesIn, AddEqualNodesUpAndKeepUnits) {
  Made made;
  made.add("f", "/usr/bin/cc1", 3);
  made.add("f", "/usr/bin/cc1", 4);
  made.add("", "", 5, "/lib/libx.so");
  const auto found = read(made.frame()).value();
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].sums.size(), 2U);
  EXPECT_EQ(found[0].updates, 3);
  EXPECT_EQ(found[0].sums[0].key, sum_key("f", "cc1", "cycles"));
  EXPECT_EQ(found[0].sums[0].delta, 7);
  EXPECT_EQ(found[0].sums[1].key, sum_key("[unknown]", "libx.so", "cycles"));
  EXPECT_THAT(found[0].units, ElementsAre(std::pair<std::string, std::string>("cycles", "count")));
}

TEST(FramesIn, TakeRowsGaugesAndMarks) {
  Made made;
  const DetailItem items[] = {{made.names.string("time"), 1.5},
                              {made.names.string("cycles"), int64_t{7}}};
  made.rows.of<Row>().push_back({made.names.string("2001"), 0, made.names.detail(items)});
  made.rows.of<Gauge>().push_back(
      {5, made.names.string("host"), made.names.string("load"), made.names.string(""), 0.5});
  made.rows.of<Mark>().push_back({7, made.names.string("begin")});
  const auto found = read(made.frame()).value();
  EXPECT_THAT(found[0].rows, ElementsAre(HasSubstr("{\"Exectime\":\"1.500000\",\"cycles\":7,")));
  EXPECT_EQ(found[0].gauges[0], (GaugeValue{"load", "", "host", 0.5, 1005}));
  EXPECT_EQ(found[0].marks[0], (MarkText{1007, "begin"}));
}

TEST(FramesIn, SeveralFramesAreSeveralBatches) {
  Made made;
  made.add("f", "p", 1);
  EXPECT_EQ(read(made.frame() + made.frame() + made.frame()).value().size(), 3U);
}

TEST(FramesIn, DamageIsNamedAndNothingIsTaken) {
  Made made;
  made.add("f", "p", 1);
  const std::string good = made.frame();
  EXPECT_EQ(read("").error().code, Code::kCorrupt);
  EXPECT_EQ(read("garbage").error().code, Code::kCorrupt);
  EXPECT_THAT(read(good + good.substr(0, good.size() - 1)).error().message, HasSubstr("frame 2"));
  std::string damaged = good;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  EXPECT_EQ(read(damaged).error().code, Code::kCorrupt);
  std::string many;
  for (size_t i = 0; i <= kMostFramesInBody; ++i) many += good;
  EXPECT_THAT(read(many).error().message, HasSubstr("more than 1024"));
}

TEST(FramesIn, OneLongNameWithManyEventsIsBounded) {
  Made made;
  const std::string symbol(60'000, 's');
  for (int i = 0; i < 10'000; ++i)
    made.rows.of<NodeSum>().push_back(
        {made.names.string(symbol), {}, {}, made.names.string("e" + std::to_string(i)), {}, 1});
  const std::string frame = made.frame();
  ASSERT_LT(frame.size(), size_t{1} << 20);
  EXPECT_THAT(read(frame).error().message, HasSubstr("too long together"));
}

// 60 MB of one letter compress to some kB.
TEST(FramesIn, WhatOneRequestDecompressesToIsBounded) {
  Made made;
  made.rows.of<Mark>().push_back({1, made.names.string(std::string(size_t{60} << 20, 'x'))});
  const std::string frame = made.frame();
  ASSERT_LT(frame.size(), size_t{1} << 20);
  EXPECT_GT(raw_size_of_frames(frame), size_t{60} << 20);
  EXPECT_EQ(read(frame + frame).value().size(), 2U);
  EXPECT_THAT(read(frame + frame + frame + frame + frame).error().message,
              HasSubstr("frame 5: the frames of one request exceed 268 MB when decompressed"));
  EXPECT_EQ(raw_size_of_frames("no frame at all, but some text"), 0U);
  EXPECT_EQ(raw_size_of_frames(""), 0U);
}

TEST(FramesIn, SumsBeyond64BitsAreRefused) {
  Made made;
  made.add("f", "p", INT64_MAX);
  made.add("f", "p", 1);
  EXPECT_EQ(read(made.frame()).error().code, Code::kInvalid);
  Made least;
  least.add("f", "p", INT64_MIN);
  EXPECT_EQ(read(least.frame()).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace fathom
