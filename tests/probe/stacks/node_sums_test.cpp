// SPDX-License-Identifier: Apache-2.0
#include "probe/stacks/node_sums.h"

#include <gtest/gtest.h>

#include <map>

#include "support/memory_sink.h"

namespace fathom {
namespace {

class NodeSumsTest : public ::testing::Test {
 protected:
  FrameId frame(const char* symbol, const char* module, uint32_t line = 0,
                const char* build_id = "") {
    Frame made;
    made.symbol = out_.string(symbol);
    made.module = out_.string(module);
    if (*build_id != '\0') made.build_id = out_.string(build_id);
    made.line = line;
    made.kind = FrameKind::kNative;
    return out_.names().frame(made);
  }
  void add(FrameId function, const char* program, int64_t weight) {
    sums_.add(function, out_.string(program), weight);
  }
  // "symbol module program event unit" to the sum of its records, and how many they are.
  std::map<std::string, std::pair<int64_t, int>> written() {
    out_.flush();
    const auto all = sink_.collected();
    std::map<std::string, std::pair<int64_t, int>> found;
    for (const NodeSum& node : all->rows.of<NodeSum>()) {
      std::string key;
      for (const StringId part : {node.symbol, node.module, node.program, node.event, node.unit})
        key += (key.empty() ? "" : " ") + std::string(all->text(part));
      found[key].first += node.sum;
      ++found[key].second;
    }
    return found;
  }

  MemorySink sink_;
  RecordStream out_{sink_};
  NodeSums sums_{out_, "cpu-clock", "ns"};
};

using Written = std::map<std::string, std::pair<int64_t, int>>;

TEST_F(NodeSumsTest, TheSameSymbolOfTwoModulesIsTwoNodes) {
  add(frame("init", "/lib/liba.so"), "app", 10);
  add(frame("init", "/lib/libb.so"), "app", 200);
  add(frame("init", "/lib/liba.so"), "app", 3000);
  add(frame("init", "/lib/liba.so"), "other", 40000);
  sums_.write();
  EXPECT_EQ(written(), (Written{{"init /lib/liba.so app cpu-clock ns", {3010, 1}},
                                {"init /lib/libb.so app cpu-clock ns", {200, 1}},
                                {"init /lib/liba.so other cpu-clock ns", {40000, 1}}}));
}

TEST_F(NodeSumsTest, LinesAndBuildIdsOfAFunctionAreOneNode) {
  add(frame("f", "/bin/x", 10), "x", 1);
  add(frame("f", "/bin/x", 11), "x", 2);
  add(frame("f", "/bin/x", 11, "abcd"), "x", 4);
  sums_.write();
  EXPECT_EQ(written(), (Written{{"f /bin/x x cpu-clock ns", {7, 1}}}));
}

TEST_F(NodeSumsTest, WhatIsWrittenIsWhatWasAddedSince) {
  add(frame("f", "m"), "p", 5);
  sums_.write();
  sums_.write();
  add(frame("f", "m"), "p", 6);
  sums_.write();
  EXPECT_EQ(written(), (Written{{"f m p cpu-clock ns", {11, 2}}}));
}

TEST_F(NodeSumsTest, SumsOutliveARenewalOfNames) {
  int renewed = 0;
  out_.keep_ids([&](const Dictionary& from, Interner& to) {
    sums_.carry_over(from, to);
    ++renewed;
  });
  for (int i = 0; i < 100; ++i) out_.string("so that ids change " + std::to_string(i));
  add(frame("f", "one"), "p", 1);
  add(frame("f", "two"), "p", 20);
  add(frame("f", "two"), "q", 300);
  out_.flush();
  out_.renew_names(0);
  ASSERT_EQ(renewed, 1);
  add(frame("f", "two"), "q", 4000);
  sums_.write();
  EXPECT_EQ(written(), (Written{{"f one p cpu-clock ns", {1, 1}},
                                {"f two p cpu-clock ns", {20, 1}},
                                {"f two q cpu-clock ns", {4300, 1}}}));
}

}  // namespace
}  // namespace fathom
