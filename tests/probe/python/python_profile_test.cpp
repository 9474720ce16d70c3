// SPDX-License-Identifier: Apache-2.0
#include "probe/python/python_profile.h"

#include <gtest/gtest.h>

#include "base/simdjson.h"
#include "probe/resources/core_reader.h"

namespace fathom {
namespace {

TEST(PythonProfile, ReadsFunctionsAndStacks) {
  ASSERT_TRUE(load_simdjson().ok());  // tools/setup installs it
  const auto exact = parse_python_profile(
      R"({"pid":1,"mode":"exact","python":"3.11.2","pid_namespace":42,"threads":[{"tid":9,"name":"MainThread",
          "calls":2,"inclusive_ns":500,"functions":[["f","/a.py",3,"python",23,46,100,200],["bad"]]}]})");
  ASSERT_TRUE(exact.ok());
  EXPECT_EQ(exact.value().pid_namespace, 42U);
  ASSERT_EQ(exact.value().threads.at(0).functions.size(), 1U);
  EXPECT_EQ(exact.value().threads[0].functions[0].subroutines, 46);
  const auto sampled = parse_python_profile(
      R"({"pid":1,"mode":"sample","rate_hz":99,"looks":3,"cpu_ns":77,"cost_ns":5,"cost_bytes":6,
          "stacks":[[9,["a","b"],3,30],[9,[],1,10],[9,["c"],2]]})");
  ASSERT_TRUE(sampled.ok());
  EXPECT_TRUE(sampled.value().sampled);
  ASSERT_EQ(sampled.value().stacks.size(), 1U);
  EXPECT_EQ(sampled.value().stacks[0].count, 3);
  EXPECT_EQ(sampled.value().stacks[0].time_ns, 30);
  EXPECT_FALSE(sampled.value().wall_time);
  EXPECT_EQ(sampled.value().cpu_ns, 77);
  EXPECT_EQ(sampled.value().cost_ns, 5);
  EXPECT_EQ(sampled.value().cost_bytes, 6);
  EXPECT_FALSE(exact.value().cpu_ns);
  const auto wall = parse_python_profile(R"({"pid":1,"mode":"wall"})");
  ASSERT_TRUE(wall.ok());
  EXPECT_TRUE(wall.value().sampled && wall.value().wall_time);
}

TEST(PythonProfile, HostileTextIsAnError) {
  ASSERT_TRUE(load_simdjson().ok());  // tools/setup installs it
  for (const char* text : {"", "{}", "[", "{\"pid\":-3}", "{\"pid\":\"x\"}", "\xff\xfe"})
    EXPECT_FALSE(parse_python_profile(text).ok()) << text;
  const auto odd = parse_python_profile(
      R"({"pid":1,"threads":[7,{"functions":[[1,2,3,4,-5,-6,-7,-8]]}],"stacks":[[1,["a"],-3,5],[1,["a"],3,-5]]})");
  ASSERT_TRUE(odd.ok());
  EXPECT_EQ(odd.value().threads.at(1).functions.at(0).calls, 0);
  EXPECT_TRUE(odd.value().stacks.empty());
}

TEST(CoreReader, BusyTimeOfEachCore) {
  const auto cores = parse_core_times(
      "cpu  10 0 10 100 5 1 1 0\ncpu0 5 1 2 50 3 1 1 9\ncpu1 7 0 0 50 0 0 0 0\nintr 5\n", 100);
  ASSERT_EQ(cores.size(), 2U);
  EXPECT_EQ(cores[0], 10 * 10'000'000);
  EXPECT_EQ(cores[1], 7 * 10'000'000);
  EXPECT_TRUE(parse_core_times("", 100).empty());
}

}  // namespace
}  // namespace fathom
