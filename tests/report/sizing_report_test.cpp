// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "report/made_run.h"
#include "report/sizing.h"

namespace fathom {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// One core all the time, and two for the last tenth of it; 300 MB that cannot be dropped.
class MadeContainer : public MadeRun {
 public:
  MadeContainer() {
    run().label = out().string("app");
    run().end_ns = 20 * kMadeSecond;
    run().user_ns = 22 * kMadeSecond;
    run().system_ns = 0;
    run().cgroup_peak_bytes = 400'000'000;
    run().real_offset_ns = 1'000'000 * kMadeSecond;
    run().memory_bytes = 8'000'000'000;
    double user = 0;
    for (int64_t second = 0; second <= 20; ++second) {
      const int64_t at = second * kMadeSecond;
      gauge(at, "cgroup", "cpu_user_total", "ns", user);
      gauge(at, "cgroup", "cpu_system_total", "ns", 0);
      gauge(at, "cgroup", "cpu0_total", "ns", static_cast<double>(at));
      gauge(at, "cgroup", "cpu1_total", "ns", user - static_cast<double>(at));
      gauge(at, "cgroup", "memory", "bytes", 400'000'000);
      gauge(at, "cgroup", "memory_working_set", "bytes", second == 7 ? 300'000'000 : 100'000'000);
      gauge(at, "cgroup", "disk_read_total", "bytes", 40'000'000.0 * static_cast<double>(second));
      gauge(at, "gpu 0", "busy", "%", 35);
      user += 1e9 * (second >= 18 ? 2 : 1);
    }
  }
  void limits(const char* text) { run().limits = out().string(text); }
  void throttled(double periods, double of) {
    for (const bool end : {false, true}) {  // 1,000 of each were before the recording
      const int64_t at = end ? 20 * kMadeSecond : 0;
      gauge(at, "cgroup", "cpu_periods_total", "count", 1000 + (end ? of : 0));
      gauge(at, "cgroup", "cpu_throttled_periods_total", "count", 1000 + (end ? periods : 0));
    }
  }
  void step(const char* name, int64_t from_s, int64_t to_s) {
    Step step;
    step.name = out().string(name);
    step.repetition = 1;
    step.start_ns = from_s * kMadeSecond;
    step.end_ns = to_s * kMadeSecond;
    step.exit_status = 0;
    step.timed_out = 0;
    step.user_ns = kMadeSecond;
    step.system_ns = 0;
    step.peak_bytes = 123'000'000;
    out().add(step);
  }
};

TEST(Quantile, IsTheValueThatSoManyDoNotPass) {
  EXPECT_EQ(quantile({}, 0.95), 0);
  EXPECT_EQ(quantile({7}, 0.95), 7);
  std::vector<double> values;
  for (int i = 100; i > 0; --i) values.push_back(i);
  EXPECT_EQ(quantile(values, 0.95), 95);
  EXPECT_EQ(quantile(values, 1), 100);
}

TEST(Sizing, SaysWhatIsNeeded) {
  MadeContainer made;
  made.step("load <b>", 0, 10);
  const std::string text = report_text(made.finish(), "sizing");
  EXPECT_THAT(text, HasSubstr("app needs 2.00 cores p95, 300 MB peak, 40 MB/s read, GPU 35 %"));
  EXPECT_THAT(text, HasSubstr("cpu: 2000m"));
  EXPECT_THAT(text, HasSubstr("memory: 336Mi"));
  EXPECT_THAT(text, HasSubstr("nvidia.com/gpu: 1"));
  EXPECT_THAT(text, HasSubstr("load <b>"));
  EXPECT_THAT(text, HasSubstr("123 MB"));
  EXPECT_THAT(text, Not(HasSubstr("Warning")));
}

// 49 MB in the first 300 ms are no more in any second.
TEST(Sizing, ABurstIsNoMoreThanWhatItsSecondHad) {
  MadeRun made;
  made.run().end_ns = 2 * kMadeSecond;
  for (int64_t look = 0; look <= 10; ++look) {
    const int64_t at = look * kMadeSecond / 5;
    made.gauge(at, "tree", "written_chars_total", "bytes", look < 2 ? 0 : 49'000'000);
    made.gauge(at, "tree", "read_chars_total", "bytes", look < 10 ? 0 : 7'000'000);
  }
  const std::string text = report_text(made.finish(), "sizing");
  EXPECT_THAT(text, HasSubstr("7.0 MB/s read \u00b7 49 MB/s written"));
}

TEST(Sizing, ARunOfLessThanASecondHadAllItsBytesInOne) {
  MadeRun made;
  made.run().end_ns = kMadeSecond / 2;
  made.gauge(0, "tree", "written_chars_total", "bytes", 0);
  made.gauge(0, "tree", "read_chars_total", "bytes", 0);
  made.gauge(kMadeSecond / 2, "tree", "written_chars_total", "bytes", 49'000'000);
  made.gauge(kMadeSecond / 2, "tree", "read_chars_total", "bytes", 0);
  EXPECT_THAT(report_text(made.finish(), "sizing"), HasSubstr("49 MB/s written"));
}

// 123 MiB that four processes share are in the sum four times; pages charged to another cgroup are
// in it as well.
TEST(Sizing, NeedsWhatIsChargedToTheCgroupWhateverItsProcessesMap) {
  MadeContainer made;
  made.run().peak_rss_bytes = 350'000'000;
  made.gauge(3 * kMadeSecond, "tree", "rss", "bytes", 519'000'000);
  EXPECT_THAT(report_text(made.finish(), "sizing"), HasSubstr("cores p95, 300 MB peak"));
}

TEST(Sizing, WithoutACgroupProcessesAreTheSource) {
  MadeRun made;
  made.run().end_ns = 20 * kMadeSecond;
  made.run().peak_rss_bytes = 350'000'000;
  EXPECT_THAT(report_text(made.finish(), "sizing"),
              HasSubstr("350 MB needed \u00b7 resident sets of the processes, without a cgroup"));
}

// A counter is brought up to date at timer interrupts, and two cores are more than one thread can
// use.
TEST(Sizing, ASerialProgramNeedsOneCore) {
  MadeRun made;
  made.run().end_ns = 2 * kMadeSecond;
  made.run().cores = 2;
  made.run().threads = 1;
  const double used[] = {0, 0.19e9, 0.4e9, 0.59e9, 0.84e9, 1.0e9, 1.19e9};
  for (int64_t i = 0; i < 7; ++i)
    made.gauge(i * kMadeSecond / 5, "cgroup", "cpu_total", "ns", used[i]);
  const std::string text = report_text(made.finish(), "sizing");
  EXPECT_THAT(text, HasSubstr("1.00 cores p95 \u00b7 1.00 cores at most"));
  EXPECT_THAT(text, HasSubstr("cpu: 1000m\n"));
}

TEST(Sizing, AValueBarelyAboveAWholeNumberOfCoresIsThatNumber) {
  EXPECT_EQ(whole_cores(1.01, 1e9), 1);
  EXPECT_EQ(whole_cores(1.05, 0.2e9), 1);
  EXPECT_EQ(whole_cores(2.03, 1e9), 2);
  EXPECT_EQ(whole_cores(1.05, 1e9), 1.05);
  EXPECT_EQ(whole_cores(0.99, 0.2e9), 0.99);
  EXPECT_EQ(whole_cores(0.01, 0.2e9), 0.01);
}

TEST(Sizing, ALimitIsNotBelowTheKernelsPeakUnlessCacheWasSeen) {
  SizingFigures figures;
  figures.peak_memory_bytes = 100.0 * (1 << 20);
  figures.memory.floor = 178.0 * (1 << 20);
  EXPECT_EQ(advise(figures).limit_bytes, 192.0 * (1 << 20));
  EXPECT_EQ(advise(figures).request_bytes, 128.0 * (1 << 20));
}

TEST(Sizing, WarnsOfWhatHeldItBack) {
  MadeContainer made;
  made.limits("cpus=1,memory=310000000");
  made.throttled(60, 100);
  made.gauge(kMadeSecond, "cgroup", "memory_swap", "bytes", 5'000'000);
  const std::string text = report_text(made.finish(), "sizing");
  EXPECT_THAT(text, HasSubstr("throttled in 60 % of the periods by its CPU limit of 1 cores"));
  EXPECT_THAT(text, HasSubstr("near its memory limit: 300 MB of 310 MB"));
  EXPECT_THAT(text, HasSubstr("5.0 MB of it were in swap"));
}

TEST(Sizing, WhoWaitedForACoreHasNotShownWhatItNeeds) {
  SizingFigures figures;
  figures.waited_share = 0.52;
  EXPECT_THAT(sizing_warnings(figures, 60 * kMadeSecond),
              testing::ElementsAre(HasSubstr("waited for a core in 52 %")));
  figures.throttled_share = 0.6;  // by its own limit, which is said
  EXPECT_THAT(sizing_warnings(figures, 60 * kMadeSecond),
              testing::ElementsAre(HasSubstr("throttled in 60 %")));
  figures = {};
  figures.waited_share = 0.1;
  EXPECT_TRUE(sizing_warnings(figures, 60 * kMadeSecond).empty());
}

TEST(Sizing, AKilledOneHasNotShownWhatItNeeds) {
  SizingFigures figures;
  figures.oom_kills = 1;
  figures.limit_memory_bytes = 64.0 * (1 << 20);
  figures.peak_memory_bytes = 63.0 * (1 << 20);
  EXPECT_EQ(advise(figures).limit_bytes, 128.0 * (1 << 20));
  EXPECT_EQ(sizing_warnings(figures, 60 * kMadeSecond).size(), 1U);
}

TEST(NodeFit, SaysWhatThereIsTooLittleOf) {
  SizingFigures figures;
  SizingAdvice advice;
  advice.request_cores = 1.5;
  advice.limit_bytes = 2e9;
  advice.request_bytes = 1.5e9;
  figures.peak_memory_bytes = 1.2e9;
  NodeDescription node{"edge", 4.0, 1e9, {}, {}, {}};
  const NodeFit small = check_fit(node, figures, advice);
  EXPECT_EQ(small.verdict, NodeFit::Verdict::kDoesNotFit);
  EXPECT_THAT(small.reasons,
              testing::ElementsAre("memory: request 1.5 GB (needed 1.2 GB), has 1.0 GB"));
  node.memory_bytes = 1.8e9;
  const NodeFit tight = check_fit(node, figures, advice);
  EXPECT_EQ(tight.verdict, NodeFit::Verdict::kFits);
  EXPECT_THAT(tight.reasons.back(), HasSubstr("its limit of 2.0 GB exceeds the memory"));
  node.memory_bytes = 8e9;
  const NodeFit large = check_fit(node, figures, advice);
  EXPECT_EQ(large.verdict, NodeFit::Verdict::kFits);
  EXPECT_THAT(large.reasons,
              testing::ElementsAre("38 % of its cores (request 1.50 of 4.00)",
                                   "19 % of its memory (request 1.5 GB of 8.0 GB; needed 1.2 GB)"));
}

TEST(NodeFit, WhatWasNotMeasuredIsNotNothing) {
  SizingFigures figures;
  NodeDescription node{"edge", 4.0, 1e9, {}, {}, 1e6};
  const NodeFit unknown = check_fit(node, figures, advise(figures));
  EXPECT_EQ(unknown.verdict, NodeFit::Verdict::kUnknown);
  EXPECT_THAT(unknown.reasons, testing::ElementsAre("cores: not measured", "memory: not measured",
                                                    "disk: not measured"));
  figures.disk_read = 0;
  figures.disk_written = 82e6;
  const NodeFit slow = check_fit(node, figures, advise(figures));
  EXPECT_EQ(slow.verdict, NodeFit::Verdict::kDoesNotFit);
  EXPECT_THAT(slow.reasons, testing::ElementsAre("disk: 82 MB/s, has 1.0 MB/s"));
}

// Version 1 of cgroups charges no writeback: what was written is what processes made dirty.
TEST(Sizing, WrittenIsWhatTheSourceThatCountedMoreHas) {
  MadeContainer made;
  for (int64_t second = 0; second <= 20; ++second) {
    const int64_t at = second * kMadeSecond;
    made.gauge(at, "tree", "disk_read_total", "bytes", 0);
    made.gauge(at, "tree", "disk_written_total", "bytes", second < 10 ? 0 : 410'000'000);
  }
  const std::string text = report_text(made.finish(), "sizing");
  EXPECT_THAT(text, HasSubstr("40 MB/s read \u00b7 410 MB/s written"));
  EXPECT_THAT(text,
              ContainsRegex("written: pages\\s+made\\s+dirty,\\s+by\\s+process\\s+accounting"));
}

TEST(Sizing, NothingIsAdvisedOfWhatWasNotMeasured) {
  MadeRun made;
  made.run().end_ns = 20 * kMadeSecond;
  made.gauge(0, "tree", "written_chars_total", "bytes", 0);
  made.gauge(kMadeSecond, "tree", "written_chars_total", "bytes", 1);
  const std::string text = report_text(made.finish(), "sizing");
  EXPECT_THAT(text, HasSubstr("Disk      not measured"));
  EXPECT_THAT(text, Not(HasSubstr("Request")));
  EXPECT_THAT(text, Not(HasSubstr("cpu:")));
}

TEST(NodeFit, DescriptionsAreRead) {
  const TempFolder folder;
  const auto load = [&](const char* text) {
    EXPECT_TRUE(write_file(folder / "n.yaml", text).ok());
    return load_nodes(folder / "n.yaml");
  };
  const auto nodes = load("nodes:\n  - {name: edge, cpus: 4, memory: 8g, disk: 100m}\n");
  ASSERT_TRUE(nodes.ok());
  EXPECT_EQ(nodes.value().at(0).memory_bytes, 8.0 * (1 << 30));
  EXPECT_FALSE(load("nodes: []\n").ok());
  EXPECT_FALSE(load("- {cpus: 4}\n").ok());
  EXPECT_FALSE(load("- {name: a, cpus: many}\n").ok());
  EXPECT_FALSE(load("- {name: a, speed: 4}\n").ok());
}

TEST(Waap, RecordsAndLines) {
  MadeContainer made;
  made.limits("memory=800000000");
  const Recording recording = made.finish();
  const std::string json = report_text(recording, "output.json");
  EXPECT_THAT(json, HasSubstr("{\"container_ram_usage\": 400000000, \"cpu_utilization\": 100.000, "
                              "\"ram_utilization\": 50.000, \"timestamp\": 1000001.000}"));
  EXPECT_EQ(std::count(json.begin(), json.end(), '{'), 20);
  const std::string csv = report_text(recording, "stats.csv");
  EXPECT_THAT(csv, HasSubstr("time,CPU0%,CPU1%,Memory%\n1000001.000,100.00,0.00,50.000\n"));
  EXPECT_THAT(csv, HasSubstr("1000020.000,100.00,100.00,50.000\n"));
}

TEST(Plot, HasPanelsAndStepsWhateverTheirNames) {
  MadeContainer made;
  made.step("<script>\"&", 2, 9);
  made.gauge(kMadeSecond, "app", "loss", "", 3);
  const std::string svg = report_text(made.finish(), "plot");
  EXPECT_THAT(svg, HasSubstr("CPU of the cgroup"));
  EXPECT_THAT(svg, HasSubstr(">loss<"));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
}

TEST(Tau, FilesAndTableAreExact) {
  MadeRun made;
  const auto add = [&](int64_t tid, const char* name, const char* file, int64_t calls,
                       int64_t subroutines, int64_t exclusive_us, int64_t inclusive_us) {
    Counter counter;
    counter.thread = made.out().names().thread(7, tid);
    counter.layer = made.out().string("python");
    counter.name = made.out().string(name);
    counter.file = made.out().string(file);
    counter.count = calls;
    counter.time_ns = inclusive_us * 1000;
    counter.self_time_ns = exclusive_us * 1000;
    const DetailItem item{made.out().string("subroutines"), subroutines};
    counter.detail = made.out().names().detail({&item, 1});
    made.out().add(counter);
  };
  add(7, ".TAU application", "", 1, 2, 10, 500'000);
  add(7, "work \"x\"", "/app/a.py:12", 23, 46, 400'000, 450'000);
  add(8, "other", "/app/a.py:3", 1, 0, 5, 5);
  const std::string table = report_text(made.finish(), "tau-table");
  EXPECT_THAT(table, HasSubstr("NODE 0;CONTEXT 0;THREAD 0:"));
  EXPECT_THAT(table, HasSubstr("NODE 0;CONTEXT 0;THREAD 1:"));
  EXPECT_THAT(table, HasSubstr(" 90.0          400          450          23          46      19565 "
                               "work 'x' [{/app/a.py} {12}]"));
}

}  // namespace
}  // namespace fathom
