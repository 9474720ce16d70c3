// SPDX-License-Identifier: Apache-2.0
#include "spool/spool_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/spool_maker.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct Kept final : SpoolListener {
  struct Call {
    SpoolCall call;
    std::string name, file;
  };
  struct Cell {
    SpoolCell cell;
    std::string name, file;
    std::vector<int64_t> latency;
  };
  void on_call(const SpoolCall& call) override {
    calls.push_back({call, std::string(call.origin.call), std::string(call.origin.file)});
  }
  void on_cell(const SpoolCell& cell) override {
    cells.push_back({cell, std::string(cell.origin.call), std::string(cell.origin.file),
                     std::vector<int64_t>(cell.latency.begin(), cell.latency.end())});
  }
  std::vector<Call> calls;
  std::vector<Cell> cells;
};

class SpoolReaderTest : public testing::Test {
 protected:
  Result<std::unique_ptr<SpoolReader>> open() {
    EXPECT_TRUE(write_file(path_, spool_.bytes()).ok());
    return SpoolReader::open(path_);
  }
  void rewrite() { EXPECT_TRUE(write_file(path_, spool_.bytes()).ok()); }
  Kept drain(SpoolReader& reader, bool all = false) {
    Kept kept;
    reader.drain(TickClock::of_spool(reader.header()), all, kept);
    return kept;
  }

  TempFolder folder_;
  std::string path_ = folder_ / "a.spool";
  SpoolMaker spool_;
};

SpoolShortCallRecord& add_call(SpoolMaker& spool, int64_t bytes) {
  auto& call = spool.add<SpoolShortCallRecord>(kSpoolShortCall);
  call.head.flags = kCallHasBytes;
  call.start_ticks = 7'000;
  call.ticks = 23;
  call.file = 9;
  call.value = bytes;
  return call;
}

TEST_F(SpoolReaderTest, CallsComeWithTheirThreadAndFile) {
  spool_.name(9, "/data/x");
  spool_.thread(4242, 4243);
  add_call(spool_, 4099).head.call = 1;
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  const Kept kept = drain(*reader.value());
  ASSERT_THAT(kept.calls, SizeIs(1));
  EXPECT_EQ(kept.calls[0].name, "write");
  EXPECT_EQ(kept.calls[0].file, "/data/x");
  EXPECT_EQ(kept.calls[0].call.origin.pid, 4242);
  EXPECT_EQ(kept.calls[0].call.origin.tid, 4243);
  EXPECT_EQ(kept.calls[0].call.value, 4099);
  EXPECT_EQ(kept.calls[0].call.duration_ns, 23);
  EXPECT_EQ(kept.calls[0].call.start_ns, 7'000);
  EXPECT_EQ(reader.value()->damaged(), 0);
}

TEST_F(SpoolReaderTest, SmallCallsHaveAllThatOthersHave) {
  spool_.name(0xffff, "/data/x");
  spool_.chunk(0).base_ticks = 5'000'000'000;
  spool_.thread(4242, 4243);
  spool_.small({1 | kCallHasBytes << kSmallCallBits, 0xffffffff, 0xffff, 0xffffff, 0xfffffe});
  spool_.small({0, 7, 0, 0, 3});
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  const Kept kept = drain(*reader.value());
  ASSERT_THAT(kept.calls, SizeIs(2));
  EXPECT_EQ(kept.calls[0].name, "write");
  EXPECT_EQ(kept.calls[0].file, "/data/x");
  EXPECT_EQ(kept.calls[0].call.start_ns, 9'294'967'295);
  EXPECT_EQ(kept.calls[0].call.duration_ns, 0xffffff);
  EXPECT_EQ(kept.calls[0].call.self_ns, 0xffffff);
  EXPECT_EQ(kept.calls[0].call.value, 0xfffffe);
  EXPECT_TRUE(kept.calls[0].call.has_bytes);
  EXPECT_EQ(kept.calls[0].call.origin.tid, 4243);
  EXPECT_EQ(kept.calls[1].name, "read");
  EXPECT_EQ(kept.calls[1].file, "");
  EXPECT_EQ(kept.calls[1].call.start_ns, 5'000'000'007);
  EXPECT_EQ(kept.calls[1].call.value, 3);
  EXPECT_FALSE(kept.calls[1].call.has_bytes || kept.calls[1].call.failed);
  EXPECT_EQ(reader.value()->damaged(), 0);
}

TEST_F(SpoolReaderTest, ASmallCallOfNoNameIsDamage) {
  spool_.thread(1, 1);
  spool_.small({2, 0, 0, 0, 0});
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(drain(*reader.value()).calls.empty());
  EXPECT_EQ(reader.value()->damaged(), 1);
}

TEST_F(SpoolReaderTest, FailedCallsKeepTheirErrorAndNoSize) {
  spool_.thread(1, 1);
  auto& call = spool_.add<SpoolCallRecord>(kSpoolCall);
  call.head.flags = kCallHasBytes | kCallFailed;
  call.error = 9;
  call.value = -1;
  call.ticks = 10;
  call.self_ticks = 30;  // more than it took: not believed
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  const Kept kept = drain(*reader.value());
  ASSERT_THAT(kept.calls, SizeIs(1));
  EXPECT_TRUE(kept.calls[0].call.failed);
  EXPECT_EQ(kept.calls[0].call.error, 9);
  EXPECT_EQ(kept.calls[0].call.value, 0);
  EXPECT_EQ(kept.calls[0].call.self_ns, 10);
}

TEST_F(SpoolReaderTest, CellsHaveTheirSliceAndHistogram) {
  spool_.name(9, "/data/x");
  spool_.thread(1, 2);
  auto& cell = spool_.add<SpoolCellRecord>(kSpoolCell);
  cell.head.flags = kCallHasBytes;
  cell.file = 9;
  cell.slice = 3;
  cell.count = 23;
  cell.bytes = 23 * 4099;
  cell.errors = 2;
  cell.ticks = 1000;
  cell.self_ticks = 900;
  cell.latency[2] = 22;
  cell.latency[5] = 1;
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  const Kept kept = drain(*reader.value());
  ASSERT_THAT(kept.cells, SizeIs(1));
  EXPECT_EQ(kept.cells[0].cell.slice_ns, 8'000'000'000);
  EXPECT_EQ(kept.cells[0].cell.count, 23);
  EXPECT_EQ(kept.cells[0].cell.bytes, 23 * 4099);
  EXPECT_EQ(kept.cells[0].cell.errors, 2);
  EXPECT_THAT(kept.cells[0].latency, ElementsAre(0, 0, 22, 0, 0, 1));
}

TEST_F(SpoolReaderTest, OnlyWhatIsSealedUnlessTheWriterIsGone) {
  spool_.thread(1, 1);  // that one runs
  spool_.area().pid = spool_.area().tid = 1;
  add_call(spool_, 1);
  const SpoolPlace sealed = spool_.area().sealed;
  add_call(spool_, 2);
  spool_.area().sealed = sealed;
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  EXPECT_THAT(drain(*reader.value()).calls, SizeIs(1));
  EXPECT_THAT(drain(*reader.value()).calls, IsEmpty());
  const Kept rest = drain(*reader.value(), true);
  ASSERT_THAT(rest.calls, SizeIs(1));
  EXPECT_EQ(rest.calls[0].call.value, 2);
}

TEST_F(SpoolReaderTest, AStreamGoesOnInTheNextChunkAndGivesBackTheOneBefore) {
  spool_.thread(1, 1);
  add_call(spool_, 1);
  spool_.chunk(0).next = 3;
  spool_.chunk(2).first = sizeof(SpoolChunk);
  spool_.go_to(2, sizeof(SpoolChunk));
  add_call(spool_, 2);
  spool_.chunk(2).next = 4;
  spool_.chunk(3).first = sizeof(SpoolChunk);
  spool_.go_to(3, sizeof(SpoolChunk));
  add_call(spool_, 3);
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  EXPECT_THAT(drain(*reader.value()).calls, SizeIs(3));
  const auto bytes = read_file(path_);
  ASSERT_TRUE(bytes.ok());
  const char* states = bytes.value().data() + offsetof(SpoolHeader, chunk_state);
  EXPECT_EQ(states[0], kChunkNever) << "an area's first chunk stays";
  EXPECT_EQ(states[2], kChunkFree);
  EXPECT_EQ(states[3], kChunkNever) << "it is still written";
}

TEST_F(SpoolReaderTest, HolesAreSteppedOver) {
  spool_.thread(1, 1);
  add_call(spool_, 1).head.kind = kSpoolHole;
  add_call(spool_, 2);
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  const Kept kept = drain(*reader.value());
  ASSERT_THAT(kept.calls, SizeIs(1));
  EXPECT_EQ(kept.calls[0].call.value, 2);
}

TEST_F(SpoolReaderTest, ALoopOfChunksEnds) {
  spool_.thread(1, 1);
  add_call(spool_, 1);
  spool_.chunk(0).next = 1;
  spool_.area().sealed = SpoolMaker::place(3, 100);
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  (void)drain(*reader.value());
}

TEST_F(SpoolReaderTest, ALoopOfAreasAndNamesEnds) {
  spool_.area().next_area = 1;
  spool_.chunk(1).next = 2;
  spool_.thread(1, 1);
  add_call(spool_, 1);
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  EXPECT_THAT(drain(*reader.value()).calls, SizeIs(1));
}

TEST_F(SpoolReaderTest, RecordsThatMakeNoSenseAreCounted) {
  spool_.thread(1, 1);
  add_call(spool_, 1).head.call = 77;          // no such call
  add_call(spool_, 2).head.kind = 99;          // no such kind
  add_call(spool_, 3).head.kind = kSpoolCell;  // of another length
  add_call(spool_, 4);
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  const Kept kept = drain(*reader.value());
  ASSERT_THAT(kept.calls, SizeIs(1));
  EXPECT_EQ(kept.calls[0].call.value, 4);
  EXPECT_EQ(reader.value()->damaged(), 3);
}

TEST_F(SpoolReaderTest, ASumBeyondBoundsIsCounted) {
  spool_.thread(1, 1);
  spool_.add<SpoolCellRecord>(kSpoolCell).count = UINT64_MAX;
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  EXPECT_THAT(drain(*reader.value()).cells, IsEmpty());
  EXPECT_EQ(reader.value()->damaged(), 1);
}

TEST_F(SpoolReaderTest, AnOverwrittenHeaderIsDamageAndKnownStreamsAreReadOn) {
  spool_.thread(1, 1);
  add_call(spool_, 4);
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  EXPECT_THAT(drain(*reader.value()).calls, SizeIs(1));
  EXPECT_FALSE(reader.value()->has_damaged_header());
  add_call(spool_, 5);
  std::memset(&spool_.header(), 0, sizeof(SpoolHeader));
  rewrite();
  EXPECT_THAT(drain(*reader.value()).calls, SizeIs(1));
  EXPECT_TRUE(reader.value()->has_damaged_header());
}

TEST_F(SpoolReaderTest, CallsUnderSeccompAreToldFromLostOnes) {
  spool_.header().lost[kLostSandboxed] = 23;
  spool_.header().lost[kLostSpace] = 7;
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader.value()->sandboxed(), 23);
  EXPECT_EQ(reader.value()->lost(), 7);
}

TEST_F(SpoolReaderTest, PlacesOutsideTheFileAreCounted) {
  spool_.thread(1, 1);
  spool_.area().sealed = SpoolMaker::place(4'000'000, 17);
  spool_.chunk(0).next = 4'000'000;
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  (void)drain(*reader.value());
  EXPECT_EQ(reader.value()->damaged(), 1);
}

TEST_F(SpoolReaderTest, AFileThatShrinksIsDamageNotDeath) {
  spool_.thread(1, 1);
  add_call(spool_, 1);
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(truncate(path_.c_str(), 100), 0);
  EXPECT_THAT(drain(*reader.value()).calls, IsEmpty());
  EXPECT_EQ(reader.value()->damaged(), 1);
}

TEST_F(SpoolReaderTest, LateNamesAreFound) {
  spool_.thread(1, 1);
  add_call(spool_, 1);
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(drain(*reader.value()).calls.at(0).file, "");
  spool_.name(9, "/late");
  add_call(spool_, 2);
  rewrite();
  EXPECT_EQ(drain(*reader.value()).calls.at(0).file, "/late");
}

// A thread had its place in the one chunk of names, and others went on to the next meanwhile.
TEST_F(SpoolReaderTest, LateNamesAreFoundBehindNewerChunks) {
  spool_.thread(1, 1);
  const uint32_t place = spool_.chunk(1).used;
  spool_.name(9, "/late");
  std::memset(spool_.chunk_bytes(1) + place, 0, 4);  // not yet marked
  spool_.chunk(3).next = 2;
  spool_.chunk(3).used = sizeof(SpoolChunk);
  spool_.header().names = 4;
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  EXPECT_THAT(drain(*reader.value()).calls, IsEmpty());
  std::memcpy(spool_.chunk_bytes(1) + place, "NAME", 4);
  add_call(spool_, 1);
  rewrite();
  EXPECT_EQ(drain(*reader.value()).calls.at(0).file, "/late");
}

// Its owner had ended and was read to its end; who takes it over has not sealed it yet.
TEST_F(SpoolReaderTest, AnAreaThatIsNobodysIsNotReadAgain) {
  spool_.thread(1, 1);
  const SpoolPlace sealed = spool_.area().sealed;
  add_call(spool_, 1);
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  EXPECT_THAT(drain(*reader.value()).calls, SizeIs(1));
  spool_.area().sealed = sealed;
  spool_.area().pid = spool_.area().tid = 0;
  rewrite();
  EXPECT_THAT(drain(*reader.value()).calls, IsEmpty());
  spool_.area().pid = spool_.area().tid = 1;
  add_call(spool_, 2);
  rewrite();
  EXPECT_THAT(drain(*reader.value()).calls, SizeIs(1));
  EXPECT_EQ(reader.value()->damaged(), 0);
}

TEST_F(SpoolReaderTest, OtherFilesAreRefused) {
  spool_.header().version = 99;
  const auto other = open();
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::kInvalid);
  spool_.header().ready = 0;
  const auto early = open();
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.error().code, Code::kCorrupt);
  EXPECT_FALSE(SpoolReader::open(folder_.path()).ok());
}

}  // namespace
}  // namespace fathom
