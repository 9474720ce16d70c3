// SPDX-License-Identifier: Apache-2.0
#include "report/call_lanes.h"

#include <gtest/gtest.h>

#include "report/made_calls.h"

namespace fathom {
namespace {

constexpr int64_t kStart = 1'000;

MadeCall call(std::string layer, std::string name, std::string object, int64_t at_ns,
              int64_t time_ns, int64_t tid = 1) {
  MadeCall made;
  made.layer = std::move(layer);
  made.name = std::move(name);
  made.file = std::move(object);
  made.at_ns = at_ns;
  made.time_ns = time_ns;
  made.tid = tid;
  return made;
}

CallLanes lanes_of(MadeCalls& made) {
  CallLanesBuilder builder(kStart);
  const auto read = made.finish().read(tables_of<Span>(), [&](const Batch& batch) -> Status {
    builder.add(batch);
    return {};
  });
  EXPECT_TRUE(read.ok());
  return builder.finish();
}

TEST(CallLanes, DevicesComeFirstThenLibrariesThenTheDriver) {
  MadeCalls made;
  made.span(call("cuda", "cuLaunchKernel", "_Z3addPf", 3'000, 50, 7));
  made.span(call("cuda", "cuCtxSynchronize", "", 2'000, 900, 7));
  made.span(call("nccl", "ncclAllReduce", "", 2'500, 100, 8));
  made.span(call("gpu", "kernel", "_Z3addPf", 4'000, 200));
  made.span(call("c", "write", "", 5'000, 10));
  const CallLanes found = lanes_of(made);
  ASSERT_EQ(found.lanes.size(), 3U);
  EXPECT_EQ(found.lanes[0].title, "gpu ? s?");
  EXPECT_EQ(found.lanes[1].title, "nccl 8");
  EXPECT_EQ(found.lanes[2].title, "cuda 7");
  ASSERT_EQ(found.lanes[2].bars.size(), 2U);
  EXPECT_EQ(found.lanes[2].bars[0].start_ns, 1'000);
  EXPECT_EQ(found.names.at(found.lanes[2].bars[1].name), "cuLaunchKernel · add(float*)");
  EXPECT_EQ(found.names.at(found.lanes[0].bars[0].name), "add(float*)");
  EXPECT_EQ(found.left_out, 0);
}

TEST(CallLanes, OfManyCallsTheLongestAreKeptAndTheOthersTold) {
  MadeCalls made;
  for (int64_t i = 0; i < 50'000; ++i)
    made.span(call("cuda", "cuMemFree_v2", "", kStart + i * 100, i, i % 40));
  const CallLanes found = lanes_of(made);
  size_t bars = 0;
  int64_t shortest = INT64_MAX;
  for (const CallLane& lane : found.lanes) {
    bars += lane.bars.size();
    for (const CallBar& bar : lane.bars) shortest = std::min(shortest, bar.duration_ns);
  }
  EXPECT_LE(found.lanes.size(), kMostCallLanes);
  EXPECT_LE(bars, kMostCallBars);
  EXPECT_EQ(bars + static_cast<size_t>(found.left_out), 50'000U);
  EXPECT_GE(shortest, 29'000);
}

TEST(CallLanes, HostileNamesAreBounded) {
  MadeCalls made;
  for (int i = 0; i < 3'000; ++i)
    made.span(call("cuda", std::string(500, 'x') + "</script>\x1b\n" + std::to_string(i),
                   std::to_string(i), kStart + i, 1));
  const CallLanes found = lanes_of(made);
  EXPECT_LE(found.names.size(), 2'000U);
  for (const std::string& name : found.names) EXPECT_LT(name.size(), 400U);
}

}  // namespace
}  // namespace fathom
