// SPDX-License-Identifier: Apache-2.0
#include "probe/io/kernel_records.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/memory_sink.h"

namespace fathom {
namespace {

template <class Record>
std::span<const std::byte> bytes_of(const Record& record) {
  return std::as_bytes(std::span(&record, 1));
}

class KernelRecordsTest : public testing::Test {
 protected:
  KernelRecords make(std::vector<std::string> prefixes = {}, std::vector<std::string> own = {}) {
    return {out,
            {{}, {"sys", "read", true}, {"sys", "exit", false, false}},
            {1'000, 100, true, std::move(prefixes), std::move(own)}};
  }
  static WireName name(uint32_t file) {
    WireName head{};
    head.file = file;
    head.kind = kNamePipe;
    head.key.inode = file;
    return head;
  }
  std::unique_ptr<Collected> collected() {
    out.flush();
    return sink.collected();
  }

  MemorySink sink;
  RecordStream out{sink};
};

TEST_F(KernelRecordsTest, SumsBecomeCounters) {
  KernelRecords records = make();
  WireSumOfCalls sum{};
  sum.head = {kWireSumOfCalls, 1, 0, 10, 11};
  sum.slice = 3;
  sum.count = 7;
  sum.errors = 2;
  sum.time_ns = 70;
  sum.self_ns = 60;
  sum.bytes = 4099;
  sum.latency[3] = 7;
  EXPECT_TRUE(records.take(bytes_of(sum), false));
  const auto all = collected();
  ASSERT_EQ(all->rows.of<Counter>().size(), 1U);
  const Counter& counter = all->rows.of<Counter>()[0];
  EXPECT_EQ(counter.slice_ns, 1'300);
  EXPECT_EQ(counter.slice_length_ns, 100);
  EXPECT_EQ(counter.count, 7);
  EXPECT_EQ(counter.errors, 2);
  EXPECT_EQ(counter.time_ns, 70);
  EXPECT_EQ(counter.self_time_ns, 60);
  EXPECT_EQ(counter.bytes, 4099);
  EXPECT_EQ(counter.latency.length, 4U);
  EXPECT_EQ(all->text(counter.layer), "sys");
  EXPECT_EQ(records.calls(), 7);
}

TEST_F(KernelRecordsTest, ACallThatOnlyBeginsHasNoTime) {
  KernelRecords records = make();
  WireOneCall one{};
  one.head = {kWireOneCall, 2, 0, 10, 11};
  EXPECT_TRUE(records.take(bytes_of(one), false));
  const auto all = collected();
  const Counter& counter = all->rows.of<Counter>().at(0);
  EXPECT_EQ(counter.count, 1);
  EXPECT_EQ(counter.time_ns, std::nullopt);
  EXPECT_EQ(counter.bytes, std::nullopt);
}

TEST_F(KernelRecordsTest, ACallWaitsForTheNameOfItsFile) {
  KernelRecords records = make();
  WireTracedCall call{};
  call.head = {kWireTracedCall, 1, 5, 10, 11};
  call.result = -9;
  call.offset = -1;
  EXPECT_FALSE(records.take(bytes_of(call), false));
  EXPECT_EQ(records.calls(), 0);
  records.files().add(bytes_of(name(5)));
  EXPECT_TRUE(records.take(bytes_of(call), false));
  WireTracedCall late = call;
  late.head.file = 6;
  EXPECT_TRUE(records.take(bytes_of(late), true)) << "no name will come";
  const auto all = collected();
  ASSERT_EQ(all->rows.of<Span>().size(), 2U);
  const Span& span = all->rows.of<Span>()[0];
  EXPECT_EQ(all->text(span.file), "pipe:[5]");
  EXPECT_EQ(span.bytes, 0) << "an error is no size";
  EXPECT_EQ(span.result, -9);
  EXPECT_EQ(span.offset_bytes, std::nullopt);
  EXPECT_EQ(all->rows.of<Span>()[1].file, StringId::kNone);
}

TEST_F(KernelRecordsTest, AnUnseenEndHasNeitherTimeNorError) {
  KernelRecords records = make();
  WireOneCall one{};
  one.head = {kWireOneCall, 1, 0, 10, 11};
  one.flags = kOneUntimed;
  one.bytes = 4099;
  EXPECT_TRUE(records.take(bytes_of(one), false));
  const auto all = collected();
  const Counter& counter = all->rows.of<Counter>().at(0);
  EXPECT_EQ(counter.count, 1);
  EXPECT_EQ(counter.bytes, 4099);
  EXPECT_EQ(counter.errors, std::nullopt);
  EXPECT_EQ(counter.time_ns, std::nullopt);
  EXPECT_EQ(counter.self_time_ns, std::nullopt);
  EXPECT_EQ(counter.latency.length, 0U);
}

TEST_F(KernelRecordsTest, TracedCallsOnOtherFilesAreCountedWithoutTheirFile) {
  KernelRecords records = make({"pipe:[5"});
  records.files().add(bytes_of(name(5)));
  records.files().add(bytes_of(name(6)));
  for (const uint32_t file : {0U, 5U, 6U}) {
    WireTracedCall call{};
    call.head = {kWireTracedCall, 1, file, 10, 11};
    call.start_ns = 1'250;
    call.duration_ns = 9;
    call.self_ns = 7;
    call.result = file == 6 ? 4099 : -9;
    EXPECT_TRUE(records.take(bytes_of(call), false));
  }
  records.flush();
  const auto all = collected();
  EXPECT_EQ(all->rows.of<Span>().size(), 1U);
  ASSERT_EQ(all->rows.of<Counter>().size(), 1U);
  const Counter& counter = all->rows.of<Counter>()[0];
  EXPECT_EQ(counter.file, StringId::kNone);
  EXPECT_EQ(counter.slice_ns, 1'200);
  EXPECT_EQ(counter.count, 2);
  EXPECT_EQ(counter.errors, 1);
  EXPECT_EQ(counter.bytes, 4099);
  EXPECT_EQ(counter.time_ns, 18);
  EXPECT_EQ(counter.self_time_ns, 14);
  EXPECT_EQ(counter.latency.length, 4U);
  EXPECT_EQ(records.calls(), 3);
  EXPECT_EQ(records.left_out(), 0);
}

TEST_F(KernelRecordsTest, SumsOnOtherFilesLoseOnlyTheirFile) {
  KernelRecords records = make({"pipe:[5"});
  records.files().add(bytes_of(name(6)));
  WireSumOfCalls sum{};
  sum.head = {kWireSumOfCalls, 1, 6, 10, 11};
  sum.count = 7;
  sum.bytes = 4099;
  EXPECT_TRUE(records.take(bytes_of(sum), false));
  const auto all = collected();
  const Counter& counter = all->rows.of<Counter>().at(0);
  EXPECT_EQ(counter.file, StringId::kNone);
  EXPECT_EQ(counter.count, 7);
  EXPECT_EQ(counter.bytes, 4099);
}

TEST_F(KernelRecordsTest, WhatIsDoneToFilesOfOursIsLeftOut) {
  KernelRecords records = make({}, {"pipe:[5"});
  records.files().add(bytes_of(name(5)));
  records.files().add(bytes_of(name(6)));
  for (const uint32_t file : {0U, 5U, 6U}) {
    WireOneCall one{};
    one.head = {kWireOneCall, 1, file, 10, 11};
    EXPECT_TRUE(records.take(bytes_of(one), false));
  }
  EXPECT_EQ(collected()->rows.of<Counter>().size(), 2U) << "also one without a file";
  EXPECT_EQ(records.left_out(), 1);
  EXPECT_EQ(records.calls(), 2);
}

TEST_F(KernelRecordsTest, AFileOfOursIsLeftOutAlsoWhereItIsAskedFor) {
  KernelRecords records = make({"pipe:["}, {"pipe:[5"});
  records.files().add(bytes_of(name(5)));
  WireTracedCall call{};
  call.head = {kWireTracedCall, 1, 5, 10, 11};
  EXPECT_TRUE(records.take(bytes_of(call), false));
  records.take_stacked(call, {}, {});
  EXPECT_EQ(records.left_out(), 2);
}

TEST_F(KernelRecordsTest, ACallWithAStackKeepsItAndWhatIsSaidOfIt) {
  KernelRecords records = make({"pipe:[5"});
  records.files().add(bytes_of(name(5)));
  records.files().add(bytes_of(name(6)));
  Frame frame;
  frame.symbol = out.string("planted");
  const StackId stack = out.names().stack(StackId::kNone, out.names().frame(frame));
  const DetailItem item{out.string("unwind"), out.string("cut")};
  const DetailId detail = out.names().detail({&item, 1});
  WireTracedCall call{};
  call.head = {kWireTracedCall, 1, 5, 10, 11};
  call.result = 7;
  call.offset = 3;
  records.take_stacked(call, stack, detail);
  call.head.file = 6;
  records.take_stacked(call, stack, detail);
  records.flush();
  EXPECT_EQ(records.calls(), 2) << "counted without stack and file";
  call.head.function = 99;
  records.take_stacked(call, stack, detail);
  EXPECT_EQ(records.damaged(), 1) << "no such function";
  const auto all = collected();
  ASSERT_EQ(all->rows.of<Span>().size(), 1U);
  const Span& span = all->rows.of<Span>()[0];
  EXPECT_EQ(span.offset_bytes, 3);
  const Dictionary& names = all->names.dictionary();
  const FrameId leaf = names.stacks[index_of(span.stack)].frame;
  EXPECT_EQ(all->text(names.frames[index_of(leaf)].symbol), "planted");
  EXPECT_NE(span.detail, DetailId::kNone);
}

TEST_F(KernelRecordsTest, WhatMakesNoSenseIsCounted) {
  KernelRecords records = make();
  WireOneCall one{};
  one.head = {kWireOneCall, 99, 0, 1, 1};
  EXPECT_TRUE(records.take(bytes_of(one), false)) << "no such function";
  one.head = {77, 1, 0, 1, 1};
  EXPECT_TRUE(records.take(bytes_of(one), false)) << "no such kind";
  one.head = {kWireOneCall, 1, 0, 1, 1};
  EXPECT_TRUE(records.take(bytes_of(one).first(20), false)) << "cut";
  EXPECT_TRUE(records.take({}, false));
  EXPECT_EQ(records.damaged(), 4);
  EXPECT_EQ(records.calls(), 0);
}

}  // namespace
}  // namespace fathom
