// SPDX-License-Identifier: Apache-2.0
#include "record/call_sums.h"

#include <map>
#include <random>

#include "record/sample_recording.h"

namespace fathom {
namespace {

Span span_of(Interner& names, std::string_view name, int64_t start_ns, int64_t duration_ns,
             int64_t tid = 1) {
  Span span;
  span.layer = names.string("c");
  span.name = names.string(name);
  span.thread = names.thread(1, tid);
  span.start_ns = start_ns;
  span.duration_ns = duration_ns;
  return span;
}

// Counters and nested spans in two frames; spans as their threads ended them.
std::vector<Rows> random_calls(Interner& names, size_t count) {
  std::mt19937 random(17);
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  std::vector<Rows> frames(2);
  frames[0].of<Run>().emplace_back().id = names.string("run");
  int64_t now_ns = 0;
  for (size_t i = 0; i < count; ++i) {
    Rows& rows = frames[i < count / 2 ? 0 : 1];
    Counter counter;
    counter.slice_ns = static_cast<int64_t>(i / 100) * 1000;
    counter.slice_length_ns = 1000;
    if (below(9) != 0) counter.thread = names.thread(1 + below(2), 10 + below(3));
    counter.layer = names.string(below(2) == 0 ? "c" : "sys");
    counter.name = names.string("f" + std::to_string(below(4)));
    if (below(3) != 0) counter.file = names.string("/file" + std::to_string(below(5)));
    counter.count = below(10);
    if (below(4) != 0) counter.time_ns = below(1000);
    if (below(4) != 0) counter.self_time_ns = below(1000);
    if (below(4) != 0) counter.bytes = below(100'000);
    if (below(4) != 0) counter.errors = below(3);
    counter.latency = {static_cast<uint32_t>(rows.buckets.size()), 3};
    for (int bucket = 0; bucket < 3; ++bucket) rows.buckets.push_back(below(5));
    rows.of<Counter>().push_back(counter);
    for (const auto& [at, length] :
         {std::pair(200, 100), std::pair(400, 50), std::pair(100, 800)}) {
      Span span = span_of(names, at == 100 ? "outer" : "inner", now_ns + at, length, 10 + below(1));
      if (below(2) != 0) span.bytes = below(5000);
      if (below(2) != 0) span.result = static_cast<int64_t>(below(3)) - 1;
      rows.of<Span>().push_back(span);
    }
    now_ns += 1000;
  }
  return frames;
}

// By text, so that sums of different origin can be compared.
std::map<std::string, std::string> lines(const CallSums& sums) {
  const auto text = [](const Maybe& value) { return value ? std::to_string(*value) : "none"; };
  std::map<std::string, std::string> lines;
  for (const CallSums::Sum& sum : sums.sums()) {
    const CalledFunction& function = sums.functions()[sum.key.function];
    const ThreadKey& thread = sums.names().threads[index_of(sum.key.thread)];
    const CallFigures& figures = sum.figures;
    lines[fmt::format("{}/{} {} {} {}", thread.pid, thread.tid, sums.text(function.layer),
                      sums.text(function.name), sums.text(sum.key.file))] =
        fmt::format("{} {} {} {} {}", figures.calls, text(figures.time_ns),
                    text(figures.self_time_ns), text(figures.bytes), text(figures.errors));
  }
  for (const CalledFunction& function : sums.functions()) {
    lines[fmt::format("{} {}", sums.text(function.layer), sums.text(function.name))] =
        fmt::format("{} {} {}", fmt::join(function.latency.powers(), ","), function.latency.calls(),
                    fmt::join(resample(function.bytes, 10'000, 20), ","));
  }
  return lines;
}

TEST(CallSums, JournalAndTablesAddUpAlike) {
  SKIP_WITHOUT_DUCKDB();
  const ScratchFolder folder;
  Interner names;
  write_journal(folder.path(), names, random_calls(names, 3000));
  CallSums from_journal;
  ASSERT_TRUE(from_journal.add(Recording::open(folder.path()).value()).ok());
  ASSERT_TRUE(convert_journal(Recording::open(folder.path()).value()).ok());
  const Recording tables = Recording::open(folder.path()).value();
  ASSERT_EQ(tables.form(), Recording::Form::kTables);
  CallSums from_tables;
  ASSERT_TRUE(from_tables.add(tables).ok());
  EXPECT_EQ(lines(from_tables), lines(from_journal));
  EXPECT_EQ(lines(from_journal).size(), from_journal.sums().size() + 11);
  EXPECT_EQ(from_tables.last_ns(), from_journal.last_ns());
}

TEST(CallSums, CountsEveryRowOnce) {
  const ScratchFolder folder;
  Interner names;
  const std::vector<Rows> frames = random_calls(names, 1000);
  CallFigures expected;
  for (const Rows& rows : frames) {
    for (const Counter& counter : rows.of<Counter>()) {
      expected +=
          {counter.count, counter.time_ns, counter.self_time_ns, counter.bytes, counter.errors};
    }
    for (const Span& span : rows.of<Span>()) {
      const bool outer = span.duration_ns == 800;
      expected += {1, span.duration_ns, outer ? 650 : span.duration_ns, span.bytes,
                   span.result ? Maybe(*span.result < 0 ? 1 : 0) : Maybe()};
    }
  }
  write_journal(folder.path(), names, frames);
  CallSums sums;
  ASSERT_TRUE(sums.add(Recording::open(folder.path()).value()).ok());
  CallFigures found;
  for (const CallSums::Sum& sum : sums.sums()) found += sum.figures;
  EXPECT_EQ(found.calls, expected.calls);
  EXPECT_EQ(found.time_ns, expected.time_ns);
  EXPECT_EQ(found.self_time_ns, expected.self_time_ns);
  EXPECT_EQ(found.bytes, expected.bytes);
  EXPECT_EQ(found.errors, expected.errors);
}

// Own time of each function of the spans, given in two frames.
std::map<std::string, int64_t> self_times(Interner& names, const std::vector<Span>& first,
                                          const std::vector<Span>& second) {
  const ScratchFolder folder;
  std::vector<Rows> frames(2);
  frames[0].of<Run>().emplace_back().id = names.string("run");
  frames[0].of<Span>() = first;
  frames[1].of<Span>() = second;
  write_journal(folder.path(), names, frames);
  CallSums sums;
  EXPECT_TRUE(sums.add(Recording::open(folder.path()).value()).ok());
  std::map<std::string, int64_t> times;
  for (const CallSums::Sum& sum : sums.sums())
    times[std::string(sums.text(sums.functions()[sum.key.function].name))] +=
        sum.figures.self_time_ns.value_or(-1);
  return times;
}

TEST(CallSums, OwnTimeIsWithoutTheCallsDirectlyWithin) {
  Interner names;
  const Span leaf = span_of(names, "leaf", 120, 30);
  const Span middle = span_of(names, "middle", 110, 60);
  const Span second = span_of(names, "second", 180, 10);
  const Span other_thread = span_of(names, "elsewhere", 115, 20, 2);
  const Span outer = span_of(names, "outer", 100, 100);
  const Span after = span_of(names, "after", 200, 5);
  const std::map<std::string, int64_t> expected = {
      {"leaf", 30}, {"middle", 30}, {"second", 10}, {"elsewhere", 20}, {"outer", 30}, {"after", 5}};
  EXPECT_EQ(self_times(names, {leaf, middle, other_thread}, {second, outer, after}), expected);
  EXPECT_EQ(self_times(names, {outer, after, middle, leaf, other_thread, second}, {}), expected);
}

TEST(CallSums, ARangeTakesWhatBeginsInItAndThreadsAreAskedFor) {
  const ScratchFolder folder;
  Interner names;
  write_journal(folder.path(), names, random_calls(names, 1000));
  const Recording recording = Recording::open(folder.path()).value();
  CallSums sums;
  ASSERT_TRUE(sums.add(recording, {.from_ns = 2000, .to_ns = 5000, .wanted = {}}).ok());
  int64_t spans = 0;
  for (const CallSums::Sum& sum : sums.sums()) {
    const std::string_view name = sums.text(sums.functions()[sum.key.function].name);
    if (name == "outer" || name == "inner") spans += sum.figures.calls;
  }
  EXPECT_EQ(spans, 9);
  CallSums of_one;
  ASSERT_TRUE(
      of_one.add(recording, {.wanted = [](const ThreadKey& key) { return key.pid == 2; }}).ok());
  EXPECT_FALSE(of_one.sums().empty());
  for (const CallSums::Sum& sum : of_one.sums())
    EXPECT_EQ(of_one.names().threads[index_of(sum.key.thread)].pid, 2);
}

TEST(CallSums, BytesAreKeptWithinTheRun) {
  const ScratchFolder folder;
  Interner names;
  std::vector<Rows> frames(1);
  frames[0].of<fathom::Run>().emplace_back().id = names.string("run");
  Counter counter;
  counter.name = names.string("read");
  counter.slice_ns = 1'000'000;
  counter.slice_length_ns = 1'000'000'000;
  counter.bytes = 4099;
  frames[0].of<Counter>().push_back(counter);
  write_journal(folder.path(), names, frames);
  CallSums sums;
  CallRange range;
  range.origin_ns = 1'500'000;
  range.last_ns = 1'504'000;
  ASSERT_TRUE(sums.add(Recording::open(folder.path()).value(), range).ok());
  EXPECT_EQ(resample(sums.functions()[1].bytes, 1000, 5),
            (std::vector<int64_t>{1024, 1025, 1026, 1024, 0}));
  EXPECT_EQ(sums.slice_ns(), 1'000'000'000);
}

// The library that sums calls in the target cannot know the system calls within them.
TEST(CallSums, SelfTimeOfLibcHoldsItsSystemCallsAsWhereItIsSummed) {
  Interner names;
  const auto in_layer = [&](std::string_view layer, Span span) {
    span.layer = names.string(layer);
    return span;
  };
  const auto times = self_times(
      names,
      {in_layer("ext4", span_of(names, "map_blocks", 130, 10)),
       in_layer("sys", span_of(names, "write", 120, 40)), span_of(names, "malloc", 170, 5)},
      {span_of(names, "fwrite", 100, 100)});
  EXPECT_EQ(times.at("fwrite"), 95);
  EXPECT_EQ(times.at("write"), 30);
  EXPECT_EQ(times.at("map_blocks"), 10);
}

}  // namespace
}  // namespace fathom
