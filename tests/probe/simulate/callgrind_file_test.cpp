// SPDX-License-Identifier: Apache-2.0
#include "probe/simulate/callgrind_file.h"

#include <gtest/gtest.h>

#include "probe/simulate/simulated_sums.h"
#include "support/memory_sink.h"

namespace fathom {
namespace {

constexpr std::string_view kFile = R"(# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 4711
cmd:  /usr/bin/app -x y

desc: Trigger: Program termination

positions: line
events: Ir Dr I1mr ILmr Bc Bcm
summary: 160 22 5 2 9 3

ob=(1) /usr/bin/app
fl=(1) app.c
fn=(1) main
10 5 1 1 1
+2 5
cfn=(2) helper
calls=3 20
* 999 999 999 999 999 999
fi=(2) inlined.h
+1 10 1

fl=(1)
fn=(2)
20 100 20 0 0 9 3

ob=(2) /lib/libc.so.6
fl=(3) ???
fn=(3) 0x0000000000001050
0 40 0 4 1
)";

TEST(CallgrindFile, FunctionsHaveWhatTheyDidThemselves) {
  const auto file = parse_callgrind(kFile);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file.value().pid, 4711);
  EXPECT_EQ(file.value().command, "/usr/bin/app -x y");
  ASSERT_EQ(file.value().functions.size(), 3U);
  using Costs = std::vector<int64_t>;
  const auto& functions = file.value().functions;
  EXPECT_EQ(functions.at({"main", "/usr/bin/app"}), (Costs{20, 2, 1, 1, 0, 0}));
  EXPECT_EQ(functions.at({"helper", "/usr/bin/app"}), (Costs{100, 20, 0, 0, 9, 3}));
  EXPECT_EQ(functions.at({"0x0000000000001050", "/lib/libc.so.6"}), (Costs{40, 0, 4, 1, 0, 0}));
  EXPECT_EQ(file.value().calls.size(), 1U);
  EXPECT_EQ(file.value().calls.at({"main", "/usr/bin/app"}), Costs(6, 999));
  EXPECT_EQ(file.value().total("Ir"), 160);
  EXPECT_EQ(file.value().summary.at(0), 160);
}

TEST(CallgrindFile, HostileTextIsRefusedOrHarmless) {
  for (const char* text : {"", "nonsense", "events:", "\0\0", "fn=(1\n1 2", "events: Ir\nxyz"})
    EXPECT_FALSE(parse_callgrind(text).ok()) << text;
  for (const char* text : {"events: Ir\n1 -5\n", "events: Ir\nfn=(9)\n1 99999999999999999999\n",
                           "events: Ir\npositions: a b c\n1\n", "events: Ir\ncalls=\n"})
    EXPECT_TRUE(parse_callgrind(text).ok()) << text;
}

TEST(SimulatedSums, NamesAreThoseOfCountersAndSaySimulated) {
  SimulatedSums sums;
  sums.add(parse_callgrind(kFile).value());
  EXPECT_TRUE(sums.agrees());
  EXPECT_EQ(sums.instructions(), 160);
  EXPECT_EQ(sums.estimated_cycles(), 160 + 10 * 3 + 10 * 5 + 100 * 2);
  MemorySink sink;
  RecordStream out(sink);
  sums.write(out, 0, 1000);
  out.flush();
  const auto all = sink.collected();
  const EventCount& first = all->rows.of<EventCount>().front();
  EXPECT_EQ(all->text(first.name), "instructions:simulated");
  EXPECT_EQ(all->text(first.source), "valgrind");
  EXPECT_EQ(first.count, 160);
  int64_t unnamed = 0;
  for (const NodeSum& node : all->rows.of<NodeSum>()) {
    EXPECT_EQ(all->text(node.program), "app");
    if (all->text(node.symbol) == "[libc.so.6+0x1050]" &&
        all->text(node.event) == "instructions:simulated")
      unnamed += node.sum;
  }
  EXPECT_EQ(unnamed, 40);
}

// main 10 calls f 20, which calls itself and g 30; g calls f again, once.
constexpr std::string_view kCalls = R"(pid: 1
cmd: app
events: Ir
summary: 60
ob=(1) app
fn=(1) main
1 10
cfn=(2) f
calls=1 5
2 50
fn=(2)
5 20
cfn=(2)
calls=3 5
6 15
cob=(1)
cfn=(3) g
calls=1 9
7 30
fn=(3)
9 30
cfn=(2)
calls=1 9
10 45
)";

TEST(SimulatedSums, FunctionsHaveWhatTheyCalledOnce) {
  SimulatedSums sums;
  sums.add(parse_callgrind(kCalls).value());
  EXPECT_TRUE(sums.agrees());
  MemorySink sink;
  RecordStream out(sink);
  sums.write(out, 0, 1000);
  out.flush();
  const auto all = sink.collected();
  std::map<std::string, int64_t> self, total;
  for (const NodeSum& node : all->rows.of<NodeSum>()) {
    const std::string name(all->text(node.symbol));
    if (all->text(node.event) == "instructions:simulated") self[name] += node.sum;
    if (all->text(node.event) == "instructions:simulated+callees") total[name] += node.sum;
  }
  using Sums = std::map<std::string, int64_t>;
  EXPECT_EQ(self, (Sums{{"main", 10}, {"f", 20}, {"g", 30}}));
  EXPECT_EQ(total, (Sums{{"main", 60}, {"f", 50}, {"g", 60}})) << "g: no more than all there is";
}

TEST(SimulatedSums, NoticesFunctionsThatDoNotAddUp) {
  CallgrindFile file = parse_callgrind(kFile).value();
  file.summary[0] += 1;
  SimulatedSums sums;
  sums.add(file);
  EXPECT_FALSE(sums.agrees());
}

// Callgrind names the calls within the first one apart.
TEST(CallgrindFileTest, AFunctionThatCallsItselfIsOne) {
  const auto file = parse_callgrind(
      "events: Ir\nob=(1) /bin/app\nfn=(1) walk(node*)\n10 7\ncfn=(2) walk(node*)'2\n"
      "calls=1 10\n* 30\nfn=(2)\n10 25\ncfn=(2)\ncalls=4 10\n* 20\n"
      "cfn=(3) leaf'\ncalls=1 20\n* 5\nfn=(3)\n20 5\n");
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto& functions = file.value().functions;
  ASSERT_EQ(functions.size(), 2U);
  EXPECT_EQ(functions.at({"walk(node*)", "/bin/app"}), std::vector<int64_t>{32});
  EXPECT_EQ(functions.at({"leaf'", "/bin/app"}), std::vector<int64_t>{5});
  EXPECT_EQ(file.value().calls.at({"walk(node*)", "/bin/app"}), std::vector<int64_t>{5});
}

}  // namespace
}  // namespace fathom
