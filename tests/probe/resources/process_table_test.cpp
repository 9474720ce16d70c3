// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/process_table.h"

#include <gtest/gtest.h>

#include "support/memory_sink.h"

namespace fathom {
namespace {

using Kind = TaskEvent::Kind;

class ProcessTableTest : public testing::Test {
 protected:
  void fork(int64_t time, int64_t pid, int64_t tid, int64_t ppid) {
    TaskEvent event = event_of(Kind::kFork, time, pid, tid);
    event.ppid = ppid;
    table_.on_task(event);
  }
  void exit(int64_t time, int64_t pid, int64_t tid, Maybe code, const TaskUsage* usage) {
    TaskEvent event = event_of(Kind::kExit, time, pid, tid);
    event.exit_code = code;
    event.usage = usage;
    table_.on_task(event);
  }
  static TaskEvent event_of(Kind kind, int64_t time, int64_t pid, int64_t tid) {
    TaskEvent event;
    event.kind = kind;
    event.time_ns = time;
    event.pid = pid;
    event.tid = tid;
    return event;
  }
  std::map<int64_t, Process> rows() {
    table_.write_changes();
    out_.flush();
    seen_ = sink_.collected();
    std::map<int64_t, Process> by_pid;
    for (const Process& row : seen_->rows.of<Process>()) by_pid[row.pid] = row;
    return by_pid;
  }
  std::string text(StringId id) { return std::string(seen_->text(id)); }

  MemorySink sink_;
  RecordStream out_{sink_};
  ProcessTable table_{out_, 100, 10};
  std::unique_ptr<Collected> seen_;
};

TaskUsage usage(int64_t cpu_ns, int64_t written, int64_t peak) {
  TaskUsage usage;
  usage.user_ns = cpu_ns;
  usage.system_ns = 0;
  usage.written_chars = written;
  usage.peak_rss_bytes = peak;
  return usage;
}

TEST_F(ProcessTableTest, TheRecordersOwnProgramIsNoProcessOfTheRunUntilItExecutesAnother) {
  table_.begin_root(15, "fathom-hold");
  EXPECT_TRUE(rows().empty());
  EXPECT_EQ(table_.process_count(), 0);
  EXPECT_EQ(table_.thread_count(), 0);
  EXPECT_EQ(table_.live_count(), 0);
  fork(16, 101, 101, 100);
  EXPECT_EQ(rows().size(), 1U);
  EXPECT_EQ(table_.process_count(), 1);
  TaskEvent event = event_of(Kind::kExec, 20, 100, 100);
  event.name = "program";
  table_.on_task(event);
  EXPECT_EQ(text(rows()[100].name), "program");
  EXPECT_EQ(table_.process_count(), 2);
}

TEST_F(ProcessTableTest, ProcessesAreOfTheContainerOfTheirParent) {
  MemorySink sink;
  RecordStream out(sink);
  ProcessTable table(out, 0, std::nullopt, {{200, "a"}, {300, "b"}});
  for (const int64_t pid : {200, 300}) {
    TaskEvent event = event_of(Kind::kFork, 20, pid, pid);
    table.on_task(event);
  }
  TaskEvent child = event_of(Kind::kFork, 21, 301, 301);
  child.ppid = 300;
  table.on_task(child);
  EXPECT_EQ(table.container_pid(200), 200);
  EXPECT_EQ(table.container_pid(301), 300);
  EXPECT_EQ(table.container_pid(999), 0);
}

TEST_F(ProcessTableTest, ThreadsAddUpAndTheLeadersCodeCounts) {
  fork(20, 100, 101, 100);
  const TaskUsage worker = usage(7, 1000, 50);
  const TaskUsage leader = usage(5, 13, 70);
  exit(30, 100, 101, 0, &worker);
  exit(40, 100, 100, 7 << 8, &leader);
  const Process row = rows().at(100);
  EXPECT_EQ(row.exit_status, 7);
  EXPECT_EQ(row.user_ns, 12);
  EXPECT_EQ(row.written_chars, 1013);
  EXPECT_EQ(row.peak_rss_bytes, 70);
  EXPECT_EQ(row.end_ns, 40);
  EXPECT_EQ(text(row.accounting), "exit");
  EXPECT_EQ(table_.thread_count(), 2);
  EXPECT_EQ(table_.live_count(), 0);
  EXPECT_TRUE(table_.exact());
}

// Thousands of short processes a second: what happens to a thread between two looks is one row.
TEST_F(ProcessTableTest, AThreadsNewsOfOneLookAreOneRow) {
  fork(20, 200, 200, 100);
  TaskEvent renamed = event_of(Kind::kRename, 21, 200, 200);
  renamed.name = "short";
  table_.on_task(renamed);
  const TaskUsage used = usage(5, 13, 70);
  exit(30, 200, 200, 0, &used);
  fork(40, 200, 200, 100);  // its id again, before anybody looked
  EXPECT_TRUE(rows().contains(200));
  std::vector<Thread> threads;
  for (const Thread& row : seen_->rows.of<Thread>())
    if (row.tid == 200) threads.push_back(row);
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(text(threads[0].name), "short");
  EXPECT_EQ(threads[0].end_ns, 30);
  EXPECT_EQ(threads[0].user_ns, 5);
  EXPECT_EQ(threads[1].start_ns, 40);
  EXPECT_FALSE(threads[1].end_ns.has_value());
  exit(50, 200, 200, 0, &used);
  EXPECT_EQ(rows().at(200).end_ns, 50);
  threads.clear();
  for (const Thread& row : seen_->rows.of<Thread>())
    if (row.tid == 200 && row.end_ns) threads.push_back(row);
  EXPECT_EQ(threads.size(), 2U);
}

TEST_F(ProcessTableTest, AProcessWhoseLeaderLeavesFirstLivesOn) {
  fork(20, 100, 101, 100);
  exit(30, 100, 100, 0, nullptr);
  EXPECT_EQ(table_.live_count(), 1);
  exit(40, 100, 101, 0, nullptr);
  EXPECT_EQ(table_.live_count(), 0);
  EXPECT_EQ(rows().at(100).end_ns, 40);
}

TEST_F(ProcessTableTest, TheLastExitMayBeToldBeforeAnothers) {
  fork(20, 100, 101, 100);
  const TaskUsage each = usage(5, 10, 70);
  TaskEvent last = event_of(Kind::kExit, 30, 100, 100);
  last.ends_process = true;
  last.usage = &each;
  table_.on_task(last);
  EXPECT_EQ(table_.live_count(), 1);
  exit(31, 100, 101, 0, &each);
  EXPECT_EQ(table_.live_count(), 0);
  EXPECT_EQ(rows().at(100).written_chars, 20);
}

TEST_F(ProcessTableTest, AProcessEndsThoughAThreadsExitWasLost) {
  fork(20, 100, 101, 100);
  TaskEvent last = event_of(Kind::kExit, 30, 100, 100);
  last.ends_process = true;
  table_.on_task(last);
  table_.write_changes();
  table_.write_changes();
  EXPECT_EQ(table_.live_count(), 0);
  EXPECT_EQ(rows().at(100).end_ns, 30);
}

TEST_F(ProcessTableTest, ExecNamesTheProcessAndQuotesItsArguments) {
  const std::string args("cc1\0-o\0a b.o\0", 13);
  TaskEvent event = event_of(Kind::kExec, 11, 100, 100);
  event.name = "cc1";
  event.exe = "/usr/bin/cc1";
  event.args = args;
  table_.on_task(event);
  const Process row = rows().at(100);
  EXPECT_EQ(text(row.name), "cc1");
  EXPECT_EQ(text(row.exe), "/usr/bin/cc1");
  EXPECT_EQ(text(row.args), "cc1 -o 'a b.o'");
}

TEST_F(ProcessTableTest, AReusedPidIsANewProcess) {
  fork(20, 200, 200, 100);
  exit(30, 200, 200, 0, nullptr);
  fork(50, 200, 200, 100);
  exit(60, 200, 200, 1 << 8, nullptr);
  rows();
  int seen = 0;
  for (const Process& row : seen_->rows.of<Process>()) {
    if (row.pid != 200) continue;
    ++seen;
    EXPECT_EQ(row.exit_status, row.start_ns == 20 ? 0 : 1);
  }
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(table_.process_count(), 3);
}

TEST_F(ProcessTableTest, WhatNobodyMeasuredStaysAbsent) {
  fork(20, 200, 200, 100);
  exit(30, 200, 200, std::nullopt, nullptr);
  const Process row = rows().at(200);
  EXPECT_FALSE(row.written_chars.has_value());
  EXPECT_FALSE(row.peak_rss_bytes.has_value());
  EXPECT_FALSE(row.exit_status.has_value());
  EXPECT_EQ(text(row.accounting), "polled");
  EXPECT_FALSE(table_.sum().written_chars.has_value());
  EXPECT_FALSE(table_.exact());
}

TEST_F(ProcessTableTest, ADepartureWithoutChildrenIsItsOwnFigures) {
  Departure gone;
  gone.pid = 100;
  gone.is_main = true;
  gone.status = 9;  // SIGKILL
  gone.user_ns = 5;
  gone.system_ns = 6;
  gone.max_rss_bytes = 4096;
  gone.io = Departure::Io{1, 2, 3, 4};
  table_.departed(gone);
  const Process row = rows().at(100);
  EXPECT_EQ(row.exit_signal, 9);
  EXPECT_EQ(row.user_ns, 5);
  EXPECT_EQ(row.disk_written_bytes, 4);
  EXPECT_EQ(text(row.accounting), "wait");
}

TEST_F(ProcessTableTest, CpuTimeToldAtExitIsSplitAsItWasSeen) {
  TaskUsage look;
  look.user_ns = 30;
  look.system_ns = 10;
  table_.polled(100, look, false);
  TaskUsage end;
  end.cpu_ns = 80;
  exit(50, 100, 100, 0, &end);
  const Process row = rows().at(100);
  EXPECT_EQ(row.user_ns, 60);
  EXPECT_EQ(row.system_ns, 20);
}

TEST_F(ProcessTableTest, NamesOutliveANewInterner) {
  size_t largest = 0;
  fork(20, 200, 200, 100);
  for (int64_t pid = 1000; pid < 4000; ++pid) {
    fork(pid, pid, pid, 100);
    TaskEvent exec = event_of(Kind::kExec, pid, pid, pid);
    const std::string args = std::string(1000, 'x') + std::to_string(pid);
    exec.name = "child";
    exec.args = args;
    table_.on_task(exec);
    exit(pid + 1, pid, pid, 0, nullptr);
    if (pid % 100 != 0) continue;
    table_.write_changes();
    out_.flush();
    out_.renew_names(200'000);
    largest = std::max(largest, out_.names().bytes());
  }
  EXPECT_LT(largest, 500'000U);  // 3 MB of arguments went through
  TaskEvent rename = event_of(Kind::kRename, 9000, 200, 200);
  rename.name = "renamed";
  table_.on_task(rename);
  const auto by_pid = rows();
  EXPECT_EQ(by_pid.size(), 3002U);
  EXPECT_EQ(text(by_pid.at(200).name), "renamed");
  EXPECT_EQ(text(by_pid.at(1234).name), "child");
  EXPECT_TRUE(text(by_pid.at(3999).args).ends_with("x3999"));
}

TEST_F(ProcessTableTest, ManyShortChildrenAreForgottenButCounted) {
  const TaskUsage each = usage(3, 10, 5);
  for (int64_t pid = 1000; pid < 6000; ++pid) {
    fork(pid, pid, pid, 100);
    exit(pid + 1, pid, pid, 0, &each);
    if (pid % 100 == 0) table_.write_changes();
  }
  EXPECT_EQ(rows().size(), 5001U);
  EXPECT_EQ(table_.process_count(), 5001);
  EXPECT_EQ(table_.sum().written_chars, 50000);
  EXPECT_EQ(table_.live(), std::vector<int64_t>{100});
}

// A table of processes that ran before the recording, from time 1000 on.
class AdoptingTableTest : public testing::Test {
 protected:
  static RunningProcess running(int64_t pid, int64_t start_ns, const TaskUsage& used) {
    RunningProcess process;
    process.pid = pid;
    process.ppid = 1;
    process.start_ns = start_ns;
    process.name = "old";
    process.args = std::string("old\0-x\0", 7);
    process.threads.push_back({pid, start_ns, "old", used});
    process.used = used;
    return process;
  }
  Process row(int64_t pid) {
    table_.write_changes();
    out_.flush();
    seen_ = sink_.collected();
    Process found;
    for (const Process& row : seen_->rows.of<Process>()) {
      if (row.pid == pid) found = row;
    }
    return found;
  }
  void exit(int64_t pid, int64_t tid, const TaskUsage& used) {
    TaskEvent event;
    event.kind = Kind::kExit;
    event.time_ns = 5000;
    event.pid = pid;
    event.tid = tid;
    event.exit_code = 3 << 8;
    event.usage = &used;
    table_.on_task(event);
  }

  MemorySink sink_;
  RecordStream out_{sink_};
  ProcessTable table_{out_, 0, std::nullopt};
  std::unique_ptr<Collected> seen_;
};

TEST_F(AdoptingTableTest, StartsEmpty) {
  EXPECT_EQ(table_.process_count(), 0);
  EXPECT_FALSE(table_.knows(0));
}

TEST_F(AdoptingTableTest, LeavesOutWhatWasUsedBefore) {
  table_.adopt(running(200, 100, usage(70, 1000, 500)), 1000);
  EXPECT_TRUE(table_.knows(200));
  exit(200, 200, usage(75, 1023, 501));
  const Process ended = row(200);
  EXPECT_EQ(ended.start_ns, 100);
  EXPECT_EQ(ended.user_ns, 5);
  EXPECT_EQ(ended.written_chars, 23);
  EXPECT_EQ(ended.peak_rss_bytes, 501) << "it rose meanwhile";
  EXPECT_EQ(ended.exit_status, 3);
  EXPECT_EQ(seen_->text(ended.name), "old");
  EXPECT_EQ(seen_->text(ended.args), "old -x");
  EXPECT_EQ(table_.sum().written_chars, 23);
  EXPECT_TRUE(table_.exact());
}

TEST_F(AdoptingTableTest, APeakFromBeforeIsNotOfTheRecording) {
  table_.adopt(running(200, 100, usage(70, 1000, 500)), 1000);
  TaskUsage look = usage(70, 1000, 500);
  look.rss_bytes = 90;
  table_.polled(200, look, true);
  look.rss_bytes = 80;
  table_.polled(200, look, true);
  EXPECT_EQ(row(200).peak_rss_bytes, 90);
  exit(200, 200, usage(75, 1023, 500));
  EXPECT_EQ(row(200).peak_rss_bytes, 90);
}

TEST_F(AdoptingTableTest, ANewcomerCountsWithAllItHasUsed) {
  table_.adopt(running(200, 1500, usage(70, 1000, 500)), 1000);
  exit(200, 200, usage(75, 1023, 500));
  const Process ended = row(200);
  EXPECT_EQ(ended.user_ns, 75);
  EXPECT_EQ(ended.written_chars, 1023);
  EXPECT_EQ(ended.peak_rss_bytes, 500);
}

TEST_F(AdoptingTableTest, AForkToldLateIsNoSecondProcess) {
  table_.adopt(running(200, 1500, usage(0, 0, 1)), 1000);
  TaskEvent fork;
  fork.kind = Kind::kFork;
  fork.time_ns = 1500;
  fork.pid = fork.tid = 200;
  fork.ppid = 1;
  table_.on_task(fork);
  EXPECT_EQ(table_.process_count(), 1);
  fork.time_ns = INT64_MAX;  // after it was adopted: the id is used again
  table_.on_task(fork);
  EXPECT_EQ(table_.process_count(), 2);
}

TEST_F(AdoptingTableTest, ALiveProcessIsSettledByItsThreads) {
  RunningProcess process = running(200, 100, usage(70, 1000, 500));
  process.threads.push_back({201, 100, "second", usage(10, 2000, 0)});
  table_.adopt(process, 1000);
  exit(200, 201, usage(11, 2005, 0));
  RunningProcess later = running(200, 100, usage(72, 1018, 500));
  table_.settle(later);
  const Process live = row(200);
  EXPECT_EQ(live.user_ns, 3);
  EXPECT_EQ(live.written_chars, 23);
  EXPECT_FALSE(live.end_ns.has_value());
  EXPECT_EQ(seen_->text(live.accounting), "polled");
  EXPECT_EQ(table_.sum().written_chars, 23);
}

TEST_F(AdoptingTableTest, FiguresAreFromTheLastTimeTheyWereLeftOut) {
  RunningProcess process = running(200, 100, usage(70, 1000, 500));
  process.threads.push_back({201, 100, "second", usage(10, 2000, 0)});
  process.threads.push_back({202, 100, "third", usage(4, 100, 0)});
  table_.adopt(process, 1000);
  exit(200, 201, usage(11, 2005, 0));
  table_.rebase(running(200, 100, usage(72, 1018, 500)));
  exit(200, 202, usage(5, 110, 0));  // ended before it could be read again
  table_.settle(running(200, 100, usage(75, 1041, 500)));
  EXPECT_EQ(row(200).user_ns, 4);
  EXPECT_EQ(row(200).written_chars, 33);
}

TEST_F(AdoptingTableTest, AThreadThatEndsWhileItIsSettledCountsOnce) {
  RunningProcess process = running(200, 100, usage(70, 1000, 500));
  process.threads.push_back({201, 100, "second", usage(10, 2000, 0)});
  table_.adopt(process, 1000);
  RunningProcess last = running(200, 100, usage(72, 1018, 500));
  last.threads.push_back({201, 100, "second", usage(11, 2005, 0)});
  exit(200, 201, usage(11, 2005, 0));
  table_.settle(last);
  EXPECT_EQ(row(200).user_ns, 3);
  EXPECT_EQ(row(200).written_chars, 23);
}

TEST_F(AdoptingTableTest, WhatWasNotReadBeforeIsNotKnownAfter) {
  TaskUsage hidden = usage(70, 0, 500);
  hidden.written_chars.reset();
  table_.adopt(running(200, 100, hidden), 1000);
  table_.polled(200, usage(75, 1023, 500), true);
  const Process live = row(200);
  EXPECT_EQ(live.user_ns, 5);
  EXPECT_FALSE(live.written_chars.has_value());
}

}  // namespace
}  // namespace fathom
