// SPDX-License-Identifier: Apache-2.0
#include "sink/file_sink.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

#include "record/journal.h"
#include "sink/record_stream.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

class FileSinkTest : public testing::Test {
 protected:
  FileSinkTest() {
    std::string pattern = (fs::temp_directory_path() / "fathom_sink.XXXXXX").string();
    folder_ = mkdtemp(pattern.data()) == nullptr ? "" : pattern;
    path_ = folder_ + "/journal";
  }
  ~FileSinkTest() override { fs::remove_all(folder_); }

  std::string frame(int64_t number, size_t text_bytes = 10) {
    Rows rows;
    rows.of<Mark>().push_back({number, names_.string(std::string(text_bytes, 't'))});
    return encoder_.encode(names_.dictionary(), rows).value();
  }
  std::string seal() { return encoder_.encode(names_.dictionary(), Rows(), kSealFlag).value(); }

  // The numbers of the frames in the journal, in order.
  std::vector<int64_t> numbers(bool sealed = true) {
    std::vector<int64_t> found;
    const auto journal = JournalReader::open(path_);
    EXPECT_TRUE(journal.ok());
    EXPECT_EQ(journal.value().health().sealed, sealed);
    EXPECT_EQ(journal.value().health().torn_bytes + journal.value().health().damaged_bytes, 0);
    for (const auto& entry : journal.value().entries()) {
      const auto batch = journal.value().read(entry);
      EXPECT_TRUE(batch.ok());
      for (const Mark& mark : batch.value().rows.of<Mark>()) found.push_back(mark.time_ns);
    }
    return found;
  }

  std::string folder_, path_;
  Interner names_;
  FrameEncoder encoder_;
};

TEST_F(FileSinkTest, KeepsTheOrderAndCounts) {
  auto sink = open_sink("file", path_);
  ASSERT_TRUE(sink.ok());
  std::vector<int64_t> wanted;
  for (int64_t i = 0; i < 2000; ++i) {
    sink.value()->write(frame(i), 1);
    wanted.push_back(i);
  }
  ASSERT_TRUE(sink.value()->close(seal()).ok());
  EXPECT_EQ(numbers(), wanted);
  const SinkReport report = sink.value()->report();
  EXPECT_EQ(report.bytes, static_cast<int64_t>(fs::file_size(path_)));
  EXPECT_EQ(report.dropped_records, 0);
  EXPECT_FALSE(report.error.has_value());
}

TEST_F(FileSinkTest, EndsWithoutCloseAsAnUnsealedJournal) {
  {
    auto sink = open_file_sink(path_);
    ASSERT_TRUE(sink.ok());
    for (int64_t i = 0; i < 3; ++i) sink.value()->write(frame(i), 1);
  }
  EXPECT_EQ(numbers(/*sealed=*/false), (std::vector<int64_t>{0, 1, 2}));
}

TEST_F(FileSinkTest, WhatComesAfterTheEndIsCounted) {
  auto sink = open_file_sink(path_);
  ASSERT_TRUE(sink.value()->close(seal()).ok());
  sink.value()->write(frame(1), 5);
  EXPECT_EQ(sink.value()->report().dropped_records, 5);
  EXPECT_TRUE(numbers().empty());
}

TEST_F(FileSinkTest, WritesWhileTheRunGoesOn) {
  auto sink = open_file_sink(path_);
  sink.value()->write(frame(1), 1);
  sink.value()->settle();
  EXPECT_EQ(numbers(/*sealed=*/false), (std::vector<int64_t>{1}));
  EXPECT_TRUE(journal_in_use(path_));
  ASSERT_TRUE(sink.value()->close(seal()).ok());
  EXPECT_FALSE(journal_in_use(path_));
}

TEST_F(FileSinkTest, AFailedOpenSaysWhere) {
  const auto sink = open_file_sink(folder_ + "/absent/journal");
  ASSERT_FALSE(sink.ok());
  EXPECT_NE(sink.error().message.find("absent"), std::string::npos);
  EXPECT_FALSE(open_sink("nothing", path_).ok());
  for (const SinkInfo& info : all_sinks()) EXPECT_STRNE(info.summary, "");
}

// The disk is full after a while: what was lost is counted, what was written is whole, and the seal
// fits.
TEST_F(FileSinkTest, AFullDiskIsCounted) {
  if (mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=3m") != 0) {
    GTEST_SKIP() << "cannot mount a small tmpfs (needs root): " << std::strerror(errno);
  }
  constexpr int64_t kFrames = 600;
  {
    auto sink = open_file_sink(path_);
    ASSERT_TRUE(sink.ok());
    Rows rows;
    for (int64_t i = 0; i < kFrames; ++i) {
      rows.clear();
      for (int64_t j = 0; j < 4000; ++j) {
        rows.of<Mark>().push_back({i * (j * 7919 % 10007) * j, {}});
      }
      sink.value()->write(encoder_.encode(names_.dictionary(), rows).value(), 4000);
    }
    EXPECT_TRUE(sink.value()->close(seal()).ok());
    const SinkReport report = sink.value()->report();
    EXPECT_GT(report.dropped_records, 0);
    ASSERT_TRUE(report.error.has_value());
    EXPECT_EQ(report.error->code, Code::kNoSpace) << report.error->message;
    EXPECT_EQ(static_cast<int64_t>(numbers().size()) + report.dropped_records, kFrames * 4000);
  }
  umount2(folder_.c_str(), MNT_DETACH);
}

// More than the queue holds at once: nothing blocks, and what was not taken is counted.
TEST_F(FileSinkTest, WhatTheQueueCannotHoldIsCounted) {
  auto sink = open_file_sink(path_);
  const std::string large(size_t{15} << 20, 'x');
  for (int i = 0; i < 8; ++i) sink.value()->write(large, 1);
  ASSERT_TRUE(sink.value()->close(seal()).ok());
  const SinkReport report = sink.value()->report();
  const auto taken = static_cast<int64_t>(8 - report.dropped_records);
  EXPECT_GE(taken, 1);
  EXPECT_EQ(report.bytes, static_cast<int64_t>(kJournalHeaderBytes + seal().size()) +
                              taken * static_cast<int64_t>(large.size()));
  EXPECT_EQ(report.error.has_value(), report.dropped_records > 0);
}

TEST_F(FileSinkTest, TheLargestFrameIsTaken) {
  auto sink = open_file_sink(path_);
  sink.value()->write(std::string(kFrameHeaderBytes + kMaxPayloadBytes, 'x'), 1);
  ASSERT_TRUE(sink.value()->close(seal()).ok());
  EXPECT_EQ(sink.value()->report().dropped_records, 0);
}

// One thread writes, others look: for ThreadSanitizer.
TEST_F(FileSinkTest, ReportsMayBeAskedForAtAnyTime) {
  auto sink = open_file_sink(path_);
  std::atomic<bool> done = false;
  std::vector<std::thread> watchers;
  for (int i = 0; i < 3; ++i) {
    watchers.emplace_back([&] {
      int64_t before = 0;
      while (!done) {
        const int64_t bytes = sink.value()->report().bytes;
        EXPECT_GE(bytes, before);
        before = bytes;
      }
    });
  }
  for (int64_t i = 0; i < 3000; ++i)
    sink.value()->write(frame(i, 10 + static_cast<size_t>(i % 50)), 1);
  EXPECT_TRUE(sink.value()->close(seal()).ok());
  done = true;
  for (std::thread& watcher : watchers) watcher.join();
  EXPECT_EQ(numbers().size(), 3000U);
}

}  // namespace
}  // namespace fathom
