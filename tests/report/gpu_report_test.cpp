// SPDX-License-Identifier: Apache-2.0
#include "report/gpu_report.h"

#include <gtest/gtest.h>

#include "report/gpu_profile.h"
#include "report/made_calls.h"

namespace fathom {
namespace {

MadeCall call(std::string name, std::string object, int64_t at_ns, int64_t time_ns,
              Maybe bytes = {}) {
  MadeCall made;
  made.name = std::move(name);
  made.file = std::move(object);
  made.at_ns = at_ns;
  made.time_ns = time_ns;
  made.bytes = bytes;
  made.layer = "cuda";
  return made;
}

void fill(MadeCalls& made) {
  made.span(call("cuLaunchKernel", "add", 1000, 100));
  made.span(call("cuLaunchKernelEx_ptsz", "mul", 1500, 100));
  made.span(call("cuLaunchKernel", "add", 1700, 100));
  made.span(call("cuGraphLaunch", "graph of 3 nodes", 1900, 50));
  made.span(call("cuMemcpyHtoD_v2", "host to device", 2000, 1000, 4000));
  made.span(call("cuMemcpyHtoDAsync_v2", "host to device", 3000, 10, 900));
  made.span(call("cuMemcpyDtoH_v2", "device to host", 4000, 500, 500));
  made.span(call("cuStreamSynchronize", "", 5000, 1'000'000'000));
  MadeCall other = call("write", "", 0, 77);
  other.layer = "c";
  made.span(other);
  for (const double value : {100.0, 700.0, 0.0}) {
    Gauge gauge;
    gauge.time_ns = static_cast<int64_t>(1000 + value);
    if (value == 0) gauge.time_ns = 9000;
    gauge.scope = made.out().string("gpu 0 of process 1");
    gauge.name = made.out().string("allocated");
    gauge.value = value;
    made.out().add(gauge);
  }
}

TEST(GpuProfile, AddsUpCallsOfTheDriver) {
  MadeCalls made;
  fill(made);
  const auto profile = load_gpu_profile(made.finish());
  ASSERT_TRUE(profile.ok());
  const GpuProfile& gpu = profile.value();
  EXPECT_EQ(gpu.total.calls, 8);
  EXPECT_EQ(gpu.launches.calls, 4);
  EXPECT_EQ(gpu.waits.time_ns, 1'000'000'000);
  ASSERT_EQ(gpu.kernels.size(), 3U);
  EXPECT_EQ(gpu.kernels[0].name, "add");
  EXPECT_EQ(gpu.kernels[0].figures.calls, 2);
  ASSERT_EQ(gpu.copies.size(), 2U);
  EXPECT_EQ(gpu.copies[0].figures.all.bytes, 4900);
  EXPECT_EQ(gpu.copies[0].figures.waited_bytes, 4000);
  EXPECT_EQ(gpu.copies[0].figures.waited_ns, 1000);
  EXPECT_EQ(gpu.latency.at("cuLaunchKernel").calls(), 2);
  EXPECT_EQ(gpu.latency.at("cuLaunchKernel").percentile(99)->ns, 100);
  EXPECT_EQ(gpu.latency.at("cuLaunchKernel").powers().at(6), 2);
  EXPECT_EQ(gpu.latency.count("write"), 0U);
  EXPECT_EQ(gpu.gaps.calls(), 3);
  EXPECT_EQ(gpu.gaps.longest()->ns, 400);
  const GpuMemory& memory = gpu.memory.at("gpu 0 of process 1");
  EXPECT_EQ(memory.peak_bytes, 700);
  EXPECT_EQ(memory.last_bytes, 0);
}

TEST(GpuProfile, NothingRecordedIsSaid) {
  MadeCalls made;
  const auto profile = load_gpu_profile(made.finish());
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.error().code, Code::kNotFound);
}

TEST(GpuReport, ShowsWhatMattersAtAnyWidth) {
  MadeCalls made;
  fill(made);
  made.span(call("cuLaunchKernel", std::string(3000, 'x') + "<script>\n\xff", 6000, 1));
  const Recording recording = made.finish();
  for (const size_t columns : {40U, 80U, 200U}) {
    ReportOptions options;
    options.columns = columns;
    const std::string text = report_text(recording, "gpu", options);
    EXPECT_NE(text.find("Kernels"), std::string::npos);
    EXPECT_NE(text.find("host to device"), std::string::npos);
    size_t at = 0;
    while (at < text.size()) {
      const size_t end = text.find('\n', at);
      EXPECT_LE(display_width(text.substr(at, end - at)), columns);
      at = end + 1;
    }
  }
  ReportOptions wide;
  EXPECT_NE(report_text(recording, "gpu", wide).find("4.0 GB/s"), std::string::npos);
  EXPECT_NE(report_text(recording, "gpu", wide).find("99 %"), std::string::npos);
}

TEST(GpuProfile, FunctionsAreToldApart) {
  EXPECT_TRUE(is_launch("cuLaunchKernelEx_ptsz"));
  EXPECT_TRUE(is_launch("cuGraphLaunch"));
  EXPECT_FALSE(is_launch("cuLaunchHostFunc"));
  EXPECT_TRUE(is_wait("cuCtxSynchronize_v2"));
  EXPECT_TRUE(is_copy("cuMemcpy3DBatchAsync"));
  EXPECT_FALSE(is_copy("cuMemsetD8_v2"));
}

}  // namespace
}  // namespace fathom
