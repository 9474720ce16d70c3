// SPDX-License-Identifier: Apache-2.0
#include "spool/cuda_records.h"

#include <gtest/gtest.h>

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
    out_.flush();
    return sink_.collected();
  }

  MemorySink sink_;
  RecordStream out_{sink_};
  CudaRecords records_{out_};
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
