// SPDX-License-Identifier: Apache-2.0
#include "spool/cuda_records.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "support/memory_sink.h"

namespace fathom {
namespace {

class CudaRecordsTest : public testing::Test {
 protected:
  void add(std::string_view name, std::string_view object, int64_t value, bool has_bytes = true,
           int32_t error = 0) {
    SpoolCall call;
    call.origin = {42, 43, name, object};
    call.start_ns = 1000;
    call.duration_ns = 10;
    call.value = value;
    call.has_bytes = has_bytes;
    call.failed = error != 0;
    call.error = error;
    records_.on_call(call);
  }
  std::unique_ptr<Collected> rows() {
    records_.join(true);
    out_.flush();
    return sink_.collected();
  }

  MemorySink sink_;
  RecordStream out_{sink_};
  CudaRecords records_{out_, true};
};

TEST_F(CudaRecordsTest, ALaunchHasItsKernelAndShape) {
  add("cuLaunchKernel", "a<b, c>\tdevice=1\tgrid=3x2x1\tbad\t=\tx=", 0, false);
  const auto found = rows();
  const Span& span = found->rows.of<Span>().at(0);
  EXPECT_EQ(found->text(span.name), "cuLaunchKernel");
  EXPECT_EQ(found->text(span.file), "a<b, c>");
  EXPECT_EQ(span.result, 0);
  EXPECT_FALSE(span.bytes.has_value());
  EXPECT_NE(span.detail, DetailId::kNone);
  EXPECT_EQ(records_.calls(), 1);
}

TEST_F(CudaRecordsTest, AFailedCallHasItsResultAndNoBytes) {
  add("cuMemAlloc_v2", "\tdevice=0", 0, true, 2);
  const auto found = rows();
  EXPECT_EQ(found->rows.of<Span>().at(0).result, -2);
  EXPECT_EQ(found->rows.of<Span>().at(0).bytes, 0);
}

TEST_F(CudaRecordsTest, MemoryIsAGaugeOfItsDeviceAndProcess) {
  add("memory_in_use", "\tdevice=3", 4099);
  add("memory_leaked", "cuMemAlloc_v2\tdevice=3", 99);
  add("not_wrapped", "cuFuture\x1b", 0);
  const auto found = rows();
  const Gauge& gauge = found->rows.of<Gauge>().at(0);
  EXPECT_EQ(found->text(gauge.scope), "gpu 3 of process 42");
  EXPECT_EQ(gauge.value, 4099);
  EXPECT_EQ(records_.leaks(), 1);
  EXPECT_EQ(records_.leaked_bytes(), 99);
  EXPECT_EQ(records_.calls(), 0);
  ASSERT_EQ(records_.not_wrapped().size(), 1U);
  EXPECT_EQ(records_.not_wrapped().begin()->find('\x1b'), std::string::npos);
}

TEST_F(CudaRecordsTest, CallsThatOnlyAskAreCounted) {
  SpoolCell cell;
  cell.origin = {42, 43, "cuCtxGetDevice", ""};
  cell.slice_ns = 2000;
  cell.slice_length_ns = 1000;
  cell.count = 301;
  cell.errors = 2;
  cell.has_times = false;
  records_.on_cell(cell);
  const auto found = rows();
  const Counter& counter = found->rows.of<Counter>().at(0);
  EXPECT_EQ(found->text(counter.layer), "cuda");
  EXPECT_EQ(found->text(counter.name), "cuCtxGetDevice");
  EXPECT_EQ(counter.count, 301);
  EXPECT_EQ(counter.errors, 2);
  EXPECT_FALSE(counter.time_ns.has_value());
  EXPECT_EQ(records_.calls(), 301);
}

TEST_F(CudaRecordsTest, FunctionsThatAreNotInTheListAreCountedByTheirNames) {
  SpoolCell cell;
  cell.origin = {42, 43, "only_counted", "cuFuture\x1b"};
  cell.count = 19;
  cell.has_times = false;
  records_.on_cell(cell);
  const auto found = rows();
  const Counter& counter = found->rows.of<Counter>().at(0);
  EXPECT_EQ(found->text(counter.name).find("cuFuture"), 0U);
  EXPECT_EQ(found->text(counter.name).find('\x1b'), std::string::npos);
  EXPECT_EQ(counter.count, 19);
  EXPECT_FALSE(counter.time_ns.has_value());
  ASSERT_EQ(records_.only_counted().size(), 1U);
  EXPECT_TRUE(records_.not_wrapped().empty());
  EXPECT_EQ(records_.calls(), 19);
}

TEST_F(CudaRecordsTest, WhatRanOnTheDeviceIsALayerOfItsOwn) {
  add("gpu_kernel", "add\tdevice=1\tgrid=1x2x3", 0, false);
  add("gpu_copy", "host to device\tdevice=1", 4096);
  add("gpu_times_missing", "libcupti.so is not here", 0);
  const auto found = rows();
  const std::vector<Span>& spans = found->rows.of<Span>();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(found->text(spans[0].layer), "gpu");
  EXPECT_EQ(found->text(spans[0].file), "add");
  EXPECT_EQ(spans[1].bytes, 4096);
  EXPECT_EQ(records_.no_gpu_times(), "libcupti.so is not here");
  EXPECT_EQ(records_.calls(), 0);
}

TEST_F(CudaRecordsTest, WorkIsJoinedToItsCallByOrder) {
  const auto at = [&](std::string_view name, std::string_view object, int64_t start_ns,
                      int64_t value, bool has_bytes, int64_t tid) {
    SpoolCall call;
    call.origin = {42, tid, name, object};
    call.start_ns = start_ns;
    call.value = value;
    call.has_bytes = has_bytes;
    records_.on_call(call);
  };
  const std::string shape = "add\tdevice=0\tgrid=1x1x1\tblock=8x1x1";
  constexpr int64_t kGraph = int64_t{1} << 32;
  at("gpu_kernel", shape + "\tstream=7", 2'000'000, 12, false, 9);  // read before its call
  at("cuLaunchKernel", shape + "\tstream=0x1", 1'000'300, 0, false, 43);
  at("cuLaunchKernelEx", shape, 1'000'100, 0, false, 44);  // of another thread, and earlier
  at("cuStreamBeginCapture_v2", "", 1'000'400, 0, false, 43);
  at("cuLaunchKernel", shape, 1'000'500, 0, false, 43);  // captured
  at("cuStreamEndCapture", "", 1'000'600, 0, false, 43);
  at("cuGraphLaunch", "graph", 1'000'700, 0, false, 43);
  at("cuMemcpyHtoDAsync_v2", "host to device\tdevice=0", 1'000'800, 64, true, 43);
  at("gpu_kernel", shape, 1'900'000, 11, false, 9);
  at("gpu_kernel", shape, 2'100'000, 13 | kGraph, false, 9);
  at("gpu_kernel", shape, 2'200'000, 13 | kGraph, false, 9);
  at("gpu_kernel", shape, 2'300'000, 14, false, 9);  // by a call that we did not see
  at("gpu_copy", "host to device\tdevice=0", 2'400'000, 64, true, 9);
  at("gpu_copy", "host to device\tdevice=0", 2'400'000, 65, true, 9);
  std::map<int64_t, std::string> calls;
  std::map<int64_t, std::string> came_from;
  const auto found = rows();
  for (const Span& span : found->rows.of<Span>())
    if (found->text(span.layer) == "cuda" && span.correlation)
      calls[*span.correlation] = fmt::format("{}", span.start_ns - 1'000'000);
  for (const Span& span : found->rows.of<Span>())
    if (found->text(span.layer) == "gpu")
      came_from[span.start_ns + span.bytes.value_or(0)] =
          span.correlation ? calls[*span.correlation] : "none";
  EXPECT_EQ(came_from, (std::map<int64_t, std::string>{{1'900'000, "100"},
                                                       {2'000'000, "300"},
                                                       {2'100'000, "700"},
                                                       {2'200'000, "700"},
                                                       {2'300'000, "none"},
                                                       {2'400'064, "800"},
                                                       {2'400'065, "none"}}));
}

TEST_F(CudaRecordsTest, HostileTextsAreBounded) {
  std::string text = "k";
  for (int i = 0; i < 1000; ++i) text += "\tkey" + std::to_string(i) + "=v";
  add("cuLaunchKernel", text, 0);
  add("memory_in_use", "\t\t\t===\tdevice=<script>\n", INT64_MAX);
  add("memory_leaked", "", INT64_MAX);
  add("memory_leaked", "", INT64_MAX);
  EXPECT_EQ(records_.leaked_bytes(), INT64_MAX);
  EXPECT_EQ(rows()->rows.of<Span>().size(), 3U);
}

}  // namespace
}  // namespace fathom
