// SPDX-License-Identifier: Apache-2.0
#include "sink/record_stream.h"

#include <gtest/gtest.h>

#include <random>

namespace fathom {
namespace {

// Keeps the frames it is given.
class MemorySink final : public Sink {
 public:
  void write(std::string frame, int64_t records) override {
    frames.push_back(std::move(frame));
    written += records;
  }
  Status close(std::string last_frame) override {
    frames.push_back(std::move(last_frame));
    return {};
  }
  [[nodiscard]] SinkReport report() const override { return {}; }

  std::vector<std::string> frames;
  int64_t written = 0;
};

std::string noise(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text(size, '\0');
  for (char& byte : text) byte = static_cast<char>(random());
  return text;
}

class RecordStreamTest : public testing::Test {
 protected:
  template <class Record>
  size_t count() {
    size_t count = 0;
    for (const std::string& frame : sink_.frames) {
      const auto batch = decode_frame(frame);
      EXPECT_TRUE(batch.ok());
      count += batch.value().rows.of<Record>().size();
    }
    return count;
  }

  MemorySink sink_;
  RecordStream stream_{sink_};
};

TEST_F(RecordStreamTest, BatchesAndSeals) {
  for (int64_t i = 0; i < 80'000; ++i) stream_.add(Mark{i, stream_.string("m")});
  EXPECT_EQ(sink_.frames.size(), 2U);
  EXPECT_EQ(stream_.records(), 80'000);
  ASSERT_TRUE(stream_.close().ok());
  ASSERT_EQ(sink_.frames.size(), 3U) << "what was pending goes with the seal";
  EXPECT_EQ(count<Mark>(), 80'000U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(parse_frame_header(sink_.frames[i]).value().sealed(), i == 2);
  }
  EXPECT_EQ(stream_.report().dropped_records, 0);
}

TEST_F(RecordStreamTest, AnEmptyStreamIsASealAlone) {
  stream_.flush();
  ASSERT_TRUE(stream_.close().ok());
  EXPECT_EQ(sink_.frames.size(), 1U);
}

TEST_F(RecordStreamTest, HistogramsStayWithTheirCounters) {
  for (int64_t i = 0; i < 40'000; ++i) {
    Counter counter;
    counter.count = i;
    counter.latency = stream_.histogram(std::vector<int64_t>{i, i + 1});
    stream_.add(counter);
  }
  ASSERT_TRUE(stream_.close().ok());
  int64_t seen = 0;
  for (const std::string& frame : sink_.frames) {
    const auto batch = decode_frame(frame);
    for (const Counter& counter : batch.value().rows.of<Counter>()) {
      EXPECT_EQ(counter.count, seen++);
      EXPECT_EQ(batch.value().rows.buckets[counter.latency.offset + 1], seen);
    }
  }
  EXPECT_EQ(seen, 40'000);
}

TEST_F(RecordStreamTest, SamplesOfAThreadStandTogether) {
  constexpr int64_t kSamples = 40;
  for (int64_t i = 0; i < kSamples; ++i) {
    Sample sample;
    sample.time_ns = i;
    sample.thread = stream_.names().thread(7, 7 + i % 2);
    stream_.add(sample);
  }
  stream_.flush();
  ASSERT_EQ(sink_.frames.size(), 1U);
  const auto batch = decode_frame(sink_.frames[0]);
  const std::vector<Sample>& samples = batch.value().rows.of<Sample>();
  ASSERT_EQ(samples.size(), size_t{kSamples});
  for (size_t i = 0; i < samples.size(); ++i)
    EXPECT_EQ(samples[i].time_ns, static_cast<int64_t>(i < 20 ? 2 * i : 2 * (i - 20) + 1));
}

// Four texts of 6 MiB that do not compress are too much for one frame and fit into two or more.
TEST_F(RecordStreamTest, WhatIsTooLargeForAFrameGoesIntoSeveral) {
  for (uint64_t i = 0; i < 4; ++i) {
    stream_.add(Mark{static_cast<int64_t>(i), stream_.string(noise(6 << 20, i))});
  }
  stream_.flush();
  EXPECT_GE(sink_.frames.size(), 2U);
  EXPECT_EQ(count<Mark>(), 4U);
  EXPECT_EQ(sink_.written, 4);
  EXPECT_EQ(stream_.report().dropped_records, 0);
}

// One record that fits no frame is lost and counted; its neighbours, of any table, are not.
TEST_F(RecordStreamTest, OneRecordThatFitsNowhereIsCounted) {
  stream_.add(Mark{1, stream_.string("before")});
  stream_.add(Mark{2, stream_.string(noise(17 << 20, 9))});
  stream_.add(Mark{3, stream_.string("after")});
  Gauge gauge;
  gauge.value = 4;
  stream_.add(gauge);
  ASSERT_TRUE(stream_.close().ok());
  EXPECT_EQ(count<Mark>(), 2U);
  EXPECT_EQ(count<Gauge>(), 1U);
  EXPECT_EQ(sink_.written, 3);
  EXPECT_EQ(stream_.records(), 4);
  EXPECT_EQ(stream_.report().dropped_records, 1);
  ASSERT_TRUE(stream_.report().error.has_value());
}

}  // namespace
}  // namespace fathom
