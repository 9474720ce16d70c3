// SPDX-License-Identifier: Apache-2.0
#include "probe/event_rings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <deque>

#include "probe/stacks/kept_samples.h"

namespace fathom {
namespace {

using fixtures::KeptSamples;
using Kind = TaskChange::Kind;

// A record as the kernel writes it: a header, fields, and the common trailer.
class Record {
 public:
  Record(uint32_t type, uint16_t misc) { put(perf_event_header{type, misc, 0}); }
  template <class Value>
  Record& put(Value value) {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    return *this;
  }
  Record& text(const std::string& text) {
    bytes_ += text;
    bytes_.append(8 - bytes_.size() % 8, '\0');
    return *this;
  }
  Record& end(int64_t time_ns) {
    put(uint32_t{1}).put(uint32_t{2}).put(time_ns).put(uint64_t{0}).put(uint64_t{9});
    return cut(bytes_.size());
  }
  Record& cut(size_t size) {
    bytes_.resize(size);
    const auto told = static_cast<uint16_t>(size);
    std::memcpy(bytes_.data() + offsetof(perf_event_header, size), &told, sizeof told);
    return *this;
  }
  [[nodiscard]] size_t size() const { return bytes_.size(); }
  // In memory of just its size, for the sanitizers.
  [[nodiscard]] std::unique_ptr<uint64_t[]> memory() const {
    auto words = std::make_unique<uint64_t[]>(bytes_.size() / 8);
    std::memcpy(words.get(), bytes_.data(), bytes_.size());
    return words;
  }

 private:
  std::string bytes_;
};

Record map_record() {
  Record record(PERF_RECORD_MMAP2, 0);
  record.put(uint32_t{10}).put(uint32_t{11}).put(uint64_t{0x1000}).put(uint64_t{0x2000});
  record.put(uint64_t{0x3000}).put(uint32_t{8}).put(uint32_t{1}).put(uint64_t{77});
  record.put(uint64_t{0}).put(uint32_t{5}).put(uint32_t{2}).text("/usr/lib/libx.so");
  return record.end(42);
}

void give(EventRings& rings, const Record& record, SampleListener& listener) {
  const auto memory = record.memory();
  rings.take(*reinterpret_cast<const perf_event_header*>(memory.get()), listener);
}

TEST(EventRings, TellsOfMappings) {
  EventRings rings;
  KeptSamples kept;
  give(rings, map_record(), kept);
  ASSERT_EQ(kept.changes.size(), 1U);
  const auto& change = kept.changes[0];
  EXPECT_EQ(change.kind, Kind::kMap);
  EXPECT_EQ(change.time_ns, 42);
  EXPECT_EQ(change.pid, 10);
  EXPECT_EQ(change.map.start, 0x1000U);
  EXPECT_EQ(change.map.length, 0x2000U);
  EXPECT_EQ(change.map.file_offset, 0x3000U);
  EXPECT_EQ(change.map.inode, 77U);
  EXPECT_EQ(change.map.path, "/usr/lib/libx.so");
}

TEST(EventRings, TellsOfTasks) {
  EventRings rings;
  KeptSamples kept;
  const auto task = [&](uint32_t type) {
    Record record(type, 0);
    record.put(uint32_t{20}).put(uint32_t{10}).put(uint32_t{21}).put(uint32_t{11});
    give(rings, record.put(uint64_t{1}).end(50), kept);
  };
  const auto name = [&](uint16_t misc) {
    Record record(PERF_RECORD_COMM, misc);
    give(rings, record.put(uint32_t{20}).put(uint32_t{21}).text("a name").end(60), kept);
  };
  task(PERF_RECORD_FORK);
  task(PERF_RECORD_EXIT);
  name(0);
  name(PERF_RECORD_MISC_COMM_EXEC);
  ASSERT_EQ(kept.changes.size(), 4U);
  const std::vector<Kind> kinds = {Kind::kFork, Kind::kExit, Kind::kName, Kind::kExec};
  for (size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(kept.changes[i].kind, kinds[i]);
    EXPECT_EQ(kept.changes[i].pid, 20);
    EXPECT_EQ(kept.changes[i].tid, 21);
  }
  EXPECT_EQ(kept.changes[0].parent, 10);
  EXPECT_EQ(kept.changes[3].name, "a name");
}

TEST(EventRings, CountsLossAndThrottling) {
  EventRings rings;
  KeptSamples kept;
  give(rings, Record(PERF_RECORD_LOST, 0).put(uint64_t{3}).put(uint64_t{1000}).end(1), kept);
  give(rings, Record(PERF_RECORD_LOST, 0).put(uint64_t{3}).put(uint64_t{7}).end(1), kept);
  give(rings, Record(PERF_RECORD_THROTTLE, 0).put(uint64_t{1}).put(uint64_t{2}).end(1), kept);
  give(rings, Record(PERF_RECORD_MAX + 100, 0).end(1), kept);
  EXPECT_EQ(rings.lost(), 1007);
  EXPECT_EQ(rings.throttled(), 1);
  EXPECT_TRUE(kept.changes.empty());
}

TEST(EventRings, ARecordMayEndAnywhere) {
  for (const uint32_t type : {PERF_RECORD_MMAP2, PERF_RECORD_COMM, PERF_RECORD_FORK,
                              PERF_RECORD_EXIT, PERF_RECORD_LOST, PERF_RECORD_SAMPLE}) {
    for (size_t size = sizeof(perf_event_header); size <= map_record().size(); size += 8) {
      Record record = map_record();
      const auto memory = record.cut(size).memory();
      auto* header = reinterpret_cast<perf_event_header*>(memory.get());
      header->type = type;
      EventRings rings;
      KeptSamples kept;
      rings.take(*header, kept);
      (void)record_time_ns(*header);
      for (const auto& change : kept.changes) EXPECT_LE(change.name.size(), size);
    }
  }
}

// In place of a ring: what is in it is known.
class ListedStream final : public TimedStream {
 public:
  explicit ListedStream(std::deque<int64_t> times) : times_(std::move(times)) {}
  void begin() override { ++open_; }
  void end() override { --open_; }
  int64_t next_ns() override { return times_.empty() ? INT64_MAX : times_.front(); }
  void deliver(SampleListener& listener) override {
    EXPECT_EQ(open_, 1);
    TaskChange change;
    change.kind = Kind::kName;
    change.time_ns = times_.front();
    listener.on_change(change);
    times_.pop_front();
  }

 private:
  std::deque<int64_t> times_;
  int open_ = 0;
};

TEST(MergeStreams, OrderOfTimeUpToAMoment) {
  ListedStream one({1, 4, 5, 30}), two({2, 3, 6, 20}), none({});
  TimedStream* const streams[] = {&one, &two, &none};
  KeptSamples kept;
  const auto times = [&kept] {
    std::vector<int64_t> found;
    for (const auto& change : kept.changes) found.push_back(change.time_ns);
    kept.changes.clear();
    return found;
  };
  merge_streams(streams, kept, 6);
  EXPECT_EQ(times(), (std::vector<int64_t>{1, 2, 3, 4, 5}));
  merge_streams(streams, kept, INT64_MAX);
  EXPECT_EQ(times(), (std::vector<int64_t>{6, 20, 30}));
  merge_streams(streams, kept, INT64_MAX);
  EXPECT_TRUE(times().empty());
}

}  // namespace
}  // namespace fathom
