// SPDX-License-Identifier: Apache-2.0
#include "report/io_profile.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "report/made_calls.h"

namespace fathom {
namespace {

constexpr int64_t kMs = 1'000'000;

const IoFunction& function_of(const IoProfile& profile, std::string_view layer,
                              std::string_view name) {
  for (const IoFunction& function : profile.functions) {
    if (function.layer == layer && function.name == name) return function;
  }
  ADD_FAILURE() << "no " << layer << " " << name;
  return profile.functions.front();
}

TEST(IoProfile, CountersAndSpansOfAFunctionAddUp) {
  MadeCalls made;
  made.counter({.name = "write",
                .file = "/a",
                .calls = 23,
                .time_ns = 46'000,
                .self_ns = 46'000,
                .bytes = 23 * 4099,
                .errors = 2,
                .latency = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 23}});
  made.counter({.name = "write", .file = "/b", .calls = 1, .time_ns = 10, .bytes = 5});
  made.span({.name = "write", .file = "/a", .at_ns = 5, .time_ns = 3000, .bytes = 7});
  made.span({.name = "write", .file = "/a", .at_ns = 9000, .time_ns = 500, .errors = 1});
  const IoProfile profile = load_io_profile(made.finish(), {}).value();
  ASSERT_EQ(profile.functions.size(), 1U);
  const IoFunction& write = profile.functions[0];
  EXPECT_EQ(write.io_class, IoClass::kWrite);
  EXPECT_EQ(write.figures.calls, 26);
  EXPECT_EQ(write.figures.bytes, 23 * 4099 + 5 + 7);
  EXPECT_EQ(write.figures.errors, 3);
  EXPECT_EQ(write.figures.time_ns, 46'000 + 10 + 3000 + 500);
  EXPECT_EQ(write.figures.self_time_ns, 46'000 + 3000 + 500);
  EXPECT_EQ(write.latency->calls(), 25);
  EXPECT_EQ(write.latency->percentile(50)->ns, 2047);
  EXPECT_FALSE(write.latency->percentile(50)->exact);
  EXPECT_EQ(write.latency->longest()->ns, 3000);
  EXPECT_EQ(profile.total.written_bytes, 23 * 4099 + 5 + 7);
  EXPECT_EQ(profile.total.read_bytes, 0);
  ASSERT_EQ(profile.files.size(), 2U);
  EXPECT_EQ(profile.files[0].name, "/a");
  EXPECT_EQ(profile.files[0].figures.writes, 25);
  EXPECT_EQ(profile.files[0].figures.written_bytes, 23 * 4099 + 7);
}

TEST(IoProfile, CopiesCountOnceEachWayAndMemoryIsNoIo) {
  MadeCalls made;
  made.span({.name = "sendfile64", .file = "/f", .at_ns = 0, .time_ns = 100, .bytes = 1001});
  made.span({.name = "malloc", .at_ns = 200, .time_ns = 50, .bytes = 64});
  made.span({.name = "mmap64", .at_ns = 300, .time_ns = 50, .bytes = 4096});
  made.span({.name = "epoll_wait", .at_ns = 400, .time_ns = 7000});
  const IoProfile profile = load_io_profile(made.finish(), {}).value();
  EXPECT_EQ(profile.total.read_bytes, 1001);
  EXPECT_EQ(profile.total.written_bytes, 1001);
  EXPECT_EQ(profile.total.calls, 3);
  EXPECT_EQ(profile.total.io_ns, 150);
  EXPECT_EQ(profile.total.wait_ns, 7000);
  EXPECT_EQ(profile.functions.size(), 4U);
}

TEST(IoProfile, TotalsAreOfSystemCallsWhereTheyWereRecorded) {
  MadeCalls made;
  made.read(calls_path("layered.calls"));
  const IoProfile profile = load_io_profile(made.finish(), {}).value();
  EXPECT_EQ(profile.layer, "sys");
  EXPECT_EQ(profile.layers, (std::vector<std::string_view>{"c", "sys", "vfs", "ext4", "block"}));
  EXPECT_EQ(profile.total.written_bytes, 8192 + 4096);
  EXPECT_EQ(profile.total.calls, 4);
  EXPECT_EQ(profile.total.io_ns, 4'000'000 + 3'000'000 + 100);
  EXPECT_EQ(function_of(profile, "sys", "write").figures.calls, 3);
  EXPECT_EQ(function_of(profile, "sys", "write").figures.self_time_ns, 100'000 + 2'999'900);
  EXPECT_EQ(function_of(profile, "vfs", "vfs_write").io_class, IoClass::kWrite);
  EXPECT_EQ(function_of(profile, "vfs", "vfs_write").figures.errors, std::nullopt);
  EXPECT_EQ(function_of(profile, "ext4", "ext4_file_write_iter").io_class, IoClass::kWrite);
}

TEST(IoProfile, ChoosesByThreadAndTime) {
  MadeCalls made;
  made.process(1, "server");
  made.process(2, "client");
  made.thread(1, 5, "worker");
  for (int64_t i = 0; i < 2; ++i) {
    for (const auto& [pid, tid] : {std::pair(1, 1), std::pair(1, 5), std::pair(2, 2)}) {
      made.counter({.name = "read",
                    .at_ns = i * kNsPerSecond,
                    .calls = 100 * pid + 10 * tid + i,
                    .time_ns = 1000,
                    .bytes = 1,
                    .pid = pid,
                    .tid = tid});
    }
  }
  const Recording recording = made.finish();
  const auto calls = [&](const ProfileFilter& filter) {
    return load_io_profile(recording, filter).value().total.calls;
  };
  EXPECT_EQ(calls({}), 2 * (110 + 150 + 220) + 3);
  EXPECT_EQ(calls({.process = "server"}), 2 * (110 + 150) + 2);
  EXPECT_EQ(calls({.thread = "worker"}), 301);
  EXPECT_EQ(calls({.process = "2"}), 441);
  EXPECT_EQ(calls({.from_ns = kNsPerSecond}), 110 + 150 + 220 + 3);
  EXPECT_EQ(calls({.process = "client", .to_ns = 500 * kMs}), 220);
  const IoProfile half = load_io_profile(recording, {.from_ns = kNsPerSecond / 2}).value();
  EXPECT_EQ(half.duration_ns, 2 * kNsPerSecond - kNsPerSecond / 2);
  const auto wrong = load_io_profile(recording, {.process = "servr"});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "no call is of a process servr");
  EXPECT_EQ(wrong.error().hint, "did you mean server?");
  const auto late = load_io_profile(recording, {.from_ns = 10 * kNsPerSecond});
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().hint, "leave out --from or --to");
}

}  // namespace
}  // namespace fathom
