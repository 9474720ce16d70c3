// SPDX-License-Identifier: Apache-2.0
// The probe against a real process that burns a little, writes known bytes and ends.
#include "probe/resources/resources_probe.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/clock.h"
#include "base/fd.h"
#include "launch/attach_launcher.h"
#include "launch/process_launcher.h"
#include "probe/resources/cgroup_reader.h"
#include "support/folders.h"
#include "support/memory_sink.h"
#include "support/on_signal.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

struct Ended {
  Run run;
  std::unique_ptr<Collected> rows;
  ProbeReport report;
};

Ended record(const std::vector<std::string>& command, int64_t interval_ns = 20 * kNsPerMs) {
  setenv("FATHOM_HOME", build_folder().c_str(), 1);
  MemorySink sink;
  RecordStream out(sink);
  LaunchRequest request;
  request.run_label = "test";
  request.command = command;
  auto probe = make_resources_probe(ProbeSettings{interval_ns});
  EXPECT_TRUE(probe->prepare(request).ok());
  auto target = launch_process(request);
  EXPECT_TRUE(target.ok()) << target.error().message;
  EXPECT_TRUE(probe->start(*target.value(), out).ok());
  probe->begin(monotonic_ns());
  EXPECT_TRUE(target.value()->go().ok());
  for (bool ended = false; !ended;) {
    probe->tick(monotonic_ns());
    for (const Departure& gone : target.value()->departures()) {
      probe->departed(gone);
      ended = ended || gone.is_main;
    }
  }
  probe->finish(monotonic_ns());
  Ended result;
  probe->total(result.run);
  result.report = probe->report();
  target.value()->finish();
  out.flush();
  result.rows = sink.collected();
  return result;
}

TEST(ResourcesProbe, CountsBytesAndProcessesExactly) {
  const TempFolder folder;
  const Ended ended =
      record({"sh", "-c", "head -c 1234567 /dev/zero > " + folder / "out" + "; exit 3"});
  EXPECT_EQ(ended.run.written_chars, 1234567);
  EXPECT_EQ(ended.run.processes, 2);
  EXPECT_EQ(ended.run.left_running, 0);
  EXPECT_EQ(ended.report.dropped, 0);
  bool found = false;
  for (const Process& process : ended.rows->rows.of<Process>()) {
    if (!process.exit_status || *process.exit_status != 3) continue;
    found = true;
    EXPECT_EQ(ended.rows->text(process.name), "sh");
    EXPECT_TRUE(process.end_ns.has_value());
  }
  EXPECT_TRUE(found);
}

TEST(ResourcesProbe, GaugesOfTheTreeNeverFall) {
  const Ended ended =
      record({"sh", "-c", "i=0; while [ $i -lt 40 ]; do i=$((i+1)); /bin/true; done"});
  std::map<std::string, double> last;
  int looked = 0;
  for (const Gauge& gauge : ended.rows->rows.of<Gauge>()) {
    const std::string name(ended.rows->text(gauge.name));
    if (ended.rows->text(gauge.scope) != "tree" || !name.ends_with("_total")) continue;
    EXPECT_GE(gauge.value, last[name]) << name;
    last[name] = gauge.value;
    ++looked;
  }
  EXPECT_GT(looked, 8);
}

// Its figures are nobody's for the kernel until its parent waits for it.
TEST(ResourcesProbe, WhatAnUnwaitedChildUsedIsInTheTree) {
  const Ended ended = record(
      {"sh", "-c", "head -c 50000000 /dev/urandom >/dev/null & exec sleep 2"}, 200 * kNsPerMs);
  std::map<int64_t, std::map<std::string, double>> looks;
  for (const Gauge& gauge : ended.rows->rows.of<Gauge>())
    if (ended.rows->text(gauge.scope) == "tree")
      looks[gauge.time_ns][std::string(ended.rows->text(gauge.name))] = gauge.value;
  double read = 0;
  for (const auto& [time_ns, look] : looks)
    if (look.contains("processes") && look.at("processes") == 1)
      read = look.at("read_chars_total");  // the child has ended
  EXPECT_GT(read, 50'000'000);
}

// What on_signal does between attaching and finishing, and nothing of what it did before.
Ended record_attached(const std::function<void(OnSignal&)>& meanwhile, bool until_over,
                      const std::function<void(OnSignal&)>& while_starting = {}) {
  MemorySink sink;
  RecordStream out(sink);
  OnSignal workload;
  LaunchRequest request;
  request.attach_to = std::to_string(workload.pid());
  auto target = attach_pid(request);
  EXPECT_TRUE(target.ok()) << target.error().message;
  auto probe = make_resources_probe(ProbeSettings{20 * kNsPerMs});
  EXPECT_TRUE(probe->start(*target.value(), out).ok());
  if (while_starting) while_starting(workload);
  probe->begin(monotonic_ns());
  meanwhile(workload);
  probe->tick(monotonic_ns());
  if (until_over) OnSignal::wait_for([&] { return target.value()->over(); });
  probe->finish(monotonic_ns());
  Ended result;
  probe->total(result.run);
  result.report = probe->report();
  out.flush();
  result.rows = sink.collected();
  return result;
}

TEST(ResourcesProbe, CountsWhatALiveProcessDidSinceItWasAttachedTo) {
  const Ended ended = record_attached([](OnSignal& workload) { workload.write(); }, false);
  EXPECT_EQ(ended.run.written_chars, kOnSignalWrites);
  EXPECT_EQ(ended.run.processes, 1);
  EXPECT_EQ(ended.run.threads, 2);
  EXPECT_FALSE(ended.run.left_running.has_value());
  EXPECT_FALSE(ended.run.exit_status.has_value());
  EXPECT_GE(*ended.run.user_ns + *ended.run.system_ns, 150 * kNsPerMs);
  EXPECT_LT(*ended.run.user_ns + *ended.run.system_ns, 280 * kNsPerMs) << "with 300 from before";
  EXPECT_LT(ended.run.peak_rss_bytes, int64_t{32} << 20) << "the peak is from before";
  ASSERT_EQ(ended.rows->rows.of<Process>().size(), 1U);
  const Process& row = ended.rows->rows.of<Process>()[0];
  EXPECT_EQ(ended.rows->text(row.name), "on_signal");
  EXPECT_EQ(row.written_chars, kOnSignalWrites);
}

TEST(ResourcesProbe, CountsChildrenOfAnAttachedProcess) {
  const Ended ended = record_attached(
      [](OnSignal& workload) {
        workload.write();
        workload.start_child();
      },
      false);
  EXPECT_EQ(ended.run.written_chars, kOnSignalWrites + kOnSignalChildWrites);
}

TEST(ResourcesProbe, LeavesOutWhatWasDoneWhileOtherProbesStarted) {
  const Ended ended = record_attached([](OnSignal& workload) { workload.start_child(); }, false,
                                      [](OnSignal& workload) { workload.write(); });
  EXPECT_EQ(ended.run.written_chars, kOnSignalChildWrites);
  EXPECT_LT(*ended.run.user_ns + *ended.run.system_ns, 100 * kNsPerMs) << "with 200 from before";
}

TEST(ResourcesProbe, KnowsTheFiguresOfAnAttachedProcessThatEnds) {
  const Ended ended = record_attached(
      [](OnSignal& workload) {
        workload.write();
        workload.end();
      },
      true);
  if (ended.report.rung.find("bpf") == std::string::npos)
    GTEST_SKIP() << "what ended is known as of the last look: " << ended.report.why;
  EXPECT_EQ(ended.run.written_chars, kOnSignalWrites);
  EXPECT_EQ(ended.run.exit_status, 3);
}

TEST(CgroupReader, ReadsBothVersions) {
  const TempFolder folder;
  const auto put = [&](const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(folder / name, text).ok());
  };
  const CgroupPlaces places{folder.path(), {}, {}};
  auto cgroup = Cgroup::create_in(places, "leaf");
  ASSERT_TRUE(cgroup.ok());
  put("leaf/cpu.stat", "usage_usec 30\nuser_usec 20\nsystem_usec 10\nthrottled_usec 4\n");
  put("leaf/memory.current", "4096\n");
  put("leaf/memory.peak", "8192\n");
  put("leaf/memory.swap.current", "12288\n");
  put("leaf/memory.events", "low 0\noom 1\noom_kill 2\n");
  put("leaf/io.stat", "8:0 rbytes=100 wbytes=7 rios=1\n8:16 rbytes=11 wbytes=2\n");
  put("leaf/io.pressure",
      "some avg10=0.00 avg60=0.00 avg300=0.00 total=55\nfull avg10=0.00 avg60=0.00 avg300=0.00 "
      "total=5\n");
  const CgroupFigures figures = CgroupReader(cgroup.value()).read();
  EXPECT_EQ(figures.user_ns, 20'000);
  EXPECT_EQ(figures.throttled_ns, 4'000);
  EXPECT_EQ(figures.peak_memory_bytes, 8192);
  EXPECT_EQ(figures.swap_bytes, 12288);
  EXPECT_EQ(figures.oom_kills, 2);
  EXPECT_EQ(figures.read_bytes, 111);
  EXPECT_EQ(figures.written_bytes, 9);
  EXPECT_EQ(figures.io_pressure_ns, 55'000);
  EXPECT_FALSE(figures.cpu_pressure_ns.has_value());
}

TEST(CgroupReader, ReadsPressureAgainOnlyWhereSomebodyWasHeldUp) {
  const TempFolder folder;
  const auto put = [&](const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(folder / name, text).ok());
  };
  const auto pressed = [](int total) {
    return "some avg10=0.00 avg60=0.00 avg300=0.00 total=" + std::to_string(total) + "\n";
  };
  auto cgroup = Cgroup::create_in(CgroupPlaces{folder.path(), {}, {}}, "leaf");
  ASSERT_TRUE(cgroup.ok());
  put("leaf/cpu.stat", "usage_usec 30\nuser_usec 20\nsystem_usec 10\n");
  put("leaf/io.pressure", pressed(55));
  put("leaf/memory.pressure", pressed(7));
  CgroupReader reader(cgroup.value());
  EXPECT_TRUE(reader.has_run());
  EXPECT_EQ(reader.read(Stalls{false, false, false}).io_pressure_ns, 55'000);  // never read before
  EXPECT_FALSE(reader.has_run());
  put("leaf/cpu.stat", "usage_usec 31\nuser_usec 21\nsystem_usec 10\n");
  put("leaf/io.pressure", pressed(56));
  put("leaf/memory.pressure", pressed(8));
  EXPECT_TRUE(reader.has_run());
  const CgroupFigures figures = reader.read(Stalls{false, true, false});
  EXPECT_EQ(figures.user_ns, 21'000);
  EXPECT_EQ(figures.io_pressure_ns, 56'000);
  EXPECT_EQ(figures.memory_pressure_ns, 7'000);
  EXPECT_EQ(reader.read().memory_pressure_ns, 8'000);
}

}  // namespace
}  // namespace fathom
