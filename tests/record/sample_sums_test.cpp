// SPDX-License-Identifier: Apache-2.0
#include "record/sample_sums.h"

#include <algorithm>
#include <map>
#include <random>

#include "record/sample_recording.h"

namespace fathom {
namespace {

// Some samples in two frames, with ids that differ between them.
std::vector<Rows> random_samples(Interner& names, size_t count) {
  std::mt19937 random(11);
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  std::vector<Rows> frames(2);
  frames[0].of<Run>().emplace_back().id = names.string("run");
  const DetailItem cut{names.string(kUnwindKey), names.string("cut")};
  const DetailItem other{names.string("waker"), int64_t{7}};
  for (size_t i = 0; i < count; ++i) {
    Sample sample;
    sample.time_ns = static_cast<int64_t>(i);
    if (below(4) != 0) sample.thread = names.thread(1 + below(2), 10 + below(3));
    sample.event = names.string(below(2) == 0 ? "cpu-clock" : "page-faults");
    sample.rate_hz = below(2) == 0 ? 99 : 999;
    sample.weight = 1 + below(5);
    if (below(5) == 0) sample.detail = names.detail(std::span(below(2) == 0 ? &cut : &other, 1));
    for (uint32_t depth = below(6); depth > 0; --depth) {
      Frame frame;
      frame.symbol = names.string("f" + std::to_string(below(3)));
      if (below(2) == 0) frame.module = names.string("/lib/m.so");
      frame.line = below(3);
      if (below(2) == 0) frame.file = names.string("/src/m.c");
      frame.kind = below(2) == 0 ? FrameKind::kKernel : FrameKind::kNative;
      sample.stack = names.stack(sample.stack, names.frame(frame));
    }
    frames[i % 2].of<Sample>().push_back(sample);
  }
  return frames;
}

// By text, so that sums of different origin can be compared.
std::map<std::string, std::pair<int64_t, int64_t>> lines(const SampleSums& sums) {
  std::map<std::string, std::pair<int64_t, int64_t>> lines;
  for (const SampleSum& sum : sums.sums()) {
    const ThreadKey& thread = sums.names().threads[index_of(sum.thread)];
    std::string line = fmt::format("{}/{} {} '{}' {}:", thread.pid, thread.tid,
                                   sums.text(sum.event), sums.text(sum.unwind), sum.rate_hz);
    for (uint32_t at = sum.stack; at != 0; at = sums.stacks()[at].parent) {
      const Frame& frame = sums.names().frames[index_of(sums.stacks()[at].frame)];
      line += fmt::format(" {}@{}/{}|{}:{}", sums.text(frame.symbol), sums.text(frame.module),
                          frame_kind_name(frame.kind), sums.text(frame.file), frame.line);
    }
    auto& [weight, samples] = lines[line];
    EXPECT_EQ(samples, 0) << "two sums of the same: " << line;
    weight += sum.weight;
    samples += sum.samples;
  }
  return lines;
}

TEST(SampleSums, JournalAndTablesAddUpAlike) {
  SKIP_WITHOUT_DUCKDB();
  const ScratchFolder folder;
  Interner names;
  const std::vector<Rows> frames = random_samples(names, 5000);
  write_journal(folder.path(), names, frames);
  SampleSums from_journal;
  ASSERT_TRUE(from_journal.add(Recording::open(folder.path()).value()).ok());
  const auto before = lines(from_journal);
  int64_t weight = 0;
  int64_t samples = 0;
  for (const auto& [line, sum] : before) {
    weight += sum.first;
    samples += sum.second;
  }
  int64_t expected = 0;
  for (const Rows& rows : frames) {
    for (const Sample& sample : rows.of<Sample>()) expected += sample.weight;
  }
  EXPECT_EQ(weight, expected);
  EXPECT_EQ(samples, 5000);

  ASSERT_TRUE(convert_journal(Recording::open(folder.path()).value()).ok());
  const Recording tables = Recording::open(folder.path()).value();
  ASSERT_EQ(tables.form(), Recording::Form::kTables);
  SampleSums from_tables;
  ASSERT_TRUE(from_tables.add(tables).ok());
  EXPECT_EQ(lines(from_tables), before);
}

TEST(SampleSums, FurtherCallPathsAreAddedUpAsOne) {
  const ScratchFolder folder;
  Interner names;
  write_journal(folder.path(), names, random_samples(names, 5000));
  const Recording recording = Recording::open(folder.path()).value();
  constexpr size_t kPaths = 40;
  SampleSums all, few(kPaths);
  ASSERT_TRUE(all.add(recording).ok());
  ASSERT_TRUE(few.add(recording).ok());
  ASSERT_GT(all.stacks().size(), 10 * kPaths) << "too few to see anything";
  EXPECT_EQ(all.samples_of_other_paths(), 0);
  EXPECT_LE(few.stacks().size(), kPaths + 2) << "none, and the others";
  int64_t samples = 0, others = 0, kept = 0;
  const auto complete = lines(all);
  for (const SampleSum& sum : few.sums()) samples += sum.samples;
  for (const auto& [line, sum] : lines(few)) {
    const bool other = line.find(kOtherPaths) != std::string::npos;
    (other ? others : kept) += sum.second;
    if (!other) {
      EXPECT_EQ(complete.at(line), sum) << line;
    }
  }
  EXPECT_EQ(samples, 5000);
  EXPECT_EQ(others, few.samples_of_other_paths());
  EXPECT_GT(others, 0);
  EXPECT_GT(kept, 0);
}

TEST(SampleSums, SourceLinesAreApartIfAskedFor) {
  SKIP_WITHOUT_DUCKDB();
  const ScratchFolder folder;
  Interner names;
  write_journal(folder.path(), names, random_samples(names, 2000));
  SampleSums from_journal, together;
  ASSERT_TRUE(from_journal.add(Recording::open(folder.path()).value(), {.lines = true}).ok());
  ASSERT_TRUE(together.add(Recording::open(folder.path()).value()).ok());
  const auto before = lines(from_journal);
  EXPECT_GT(before.size(), together.sums().size());
  EXPECT_TRUE(std::any_of(before.begin(), before.end(), [](const auto& entry) {
    return entry.first.find("|/src/m.c:2") != std::string::npos;
  }));
  ASSERT_TRUE(convert_journal(Recording::open(folder.path()).value()).ok());
  SampleSums from_tables;
  ASSERT_TRUE(from_tables.add(Recording::open(folder.path()).value(), {.lines = true}).ok());
  EXPECT_EQ(lines(from_tables), before);
}

TEST(SampleSums, ARangeOfTimeIsHalfOpen) {
  const ScratchFolder folder;
  Interner names;
  write_journal(folder.path(), names, random_samples(names, 1000));
  const Recording recording = Recording::open(folder.path()).value();
  for (const bool each_time : {false, true}) {
    SampleSums sums;
    ASSERT_TRUE(sums.add(recording, {.from_ns = 10, .to_ns = 910, .each_time = each_time}).ok());
    int64_t samples = 0;
    for (const SampleSum& sum : sums.sums()) {
      samples += sum.samples;
      EXPECT_GE(sum.time_ns, 10);
      EXPECT_LT(sum.time_ns, 910);
    }
    EXPECT_EQ(samples, 900);
    EXPECT_EQ(each_time, sums.sums().size() == 900);
  }
}

TEST(SampleSums, OfTwoRecordingsIsTheSumOfBoth) {
  const ScratchFolder folder;
  Interner names;
  write_journal(folder.path(), names, random_samples(names, 500));
  const Recording recording = Recording::open(folder.path()).value();
  SampleSums once;
  SampleSums twice;
  ASSERT_TRUE(once.add(recording).ok());
  ASSERT_TRUE(twice.add(recording).ok());
  ASSERT_TRUE(twice.add(recording).ok());
  auto expected = lines(once);
  for (auto& [line, sum] : expected) sum = {2 * sum.first, 2 * sum.second};
  EXPECT_EQ(lines(twice), expected);
}

TEST(SampleSums, TablesWithoutTheirStacksAreCorrupt) {
  SKIP_WITHOUT_DUCKDB();
  const ScratchFolder folder;
  Interner names;
  write_journal(folder.path(), names, random_samples(names, 100));
  ASSERT_TRUE(convert_journal(Recording::open(folder.path()).value()).ok());
  std::filesystem::remove(folder.path() + "/stacks.parquet");
  SampleSums sums;
  const auto added = sums.add(Recording::open(folder.path()).value());
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace fathom
