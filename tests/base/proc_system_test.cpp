// SPDX-License-Identifier: Apache-2.0
#include "base/proc_system.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/proc.h"

namespace fathom {
namespace {

TEST(SystemStat, TotalsAndCpus) {
  const auto stat = parse_system_stat(
      "cpu  10 20 30 40 50 60 70 80 1 2\ncpu0 5 10 15 20 25 30 35 40 0 0\ncpu1 5 10 15 20 25 30 35 "
      "40 0 0\n"
      "intr 1 2 3\nctxt 99\nbtime 1700000000\nprocesses 77\nprocs_running 2\nprocs_blocked 1\n");
  ASSERT_TRUE(stat.ok());
  EXPECT_EQ(stat.value().user_ns, ticks_to_ns(10));
  EXPECT_EQ(stat.value().steal_ns, ticks_to_ns(80));
  EXPECT_EQ(stat.value().cpus, 2);
  EXPECT_EQ(stat.value().switches, 99);
  EXPECT_EQ(stat.value().forks, 77);
  EXPECT_FALSE(parse_system_stat("intr 1\n").ok());
}

TEST(SystemMemory, Meminfo) {
  const auto memory =
      parse_meminfo("MemTotal: 1000 kB\nMemFree: 200 kB\nSwapTotal: 0 kB\nSwapCached: 5 kB\n");
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory.value().total_bytes, 1000 * 1024);
  EXPECT_EQ(memory.value().swap_total_bytes, 0);
  EXPECT_FALSE(memory.value().cached_bytes.has_value());
  EXPECT_FALSE(parse_meminfo("MemTotal: 1000 kB\n").ok());
}

TEST(Pressure, SomeAndFull) {
  const auto pressure = parse_pressure(
      "some avg10=0.16 avg60=2.36 avg300=6.33 total=52351209\nfull avg10=1.50 avg60=0.00 "
      "avg300=0.00 total=7\n");
  ASSERT_TRUE(pressure.ok());
  EXPECT_DOUBLE_EQ(pressure.value().some_avg10_percent, 0.16);
  EXPECT_EQ(pressure.value().some_ns, 52351209000);
  EXPECT_EQ(pressure.value().full_ns, 7000);
  const auto old = parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  ASSERT_TRUE(old.ok());
  EXPECT_FALSE(old.value().full_ns.has_value());
  EXPECT_FALSE(parse_pressure("").ok());
}

TEST(Pressure, AbsentKernelSaysUnsupported) {
  const auto pressure = read_pressure("cpu", "/nowhere");
  ASSERT_FALSE(pressure.ok());
  EXPECT_EQ(pressure.error().code, Code::kUnsupported);
  EXPECT_FALSE(pressure.error().hint.empty());
}

constexpr std::string_view kDisks =
    " 254       0 vda 10 1 16 3 20 2 32 4 5 6 7 0 0 0 0 0 0\n"
    " 254       1 vda1 9 1 15 3 20 2 32 4 0 6 7 0 0 0 0 0 0\n"
    "   7       0 loop0 1 0 8 0 0 0 0 0 0 0 0\n";

TEST(Disks, OnlyDevicesThatHoldData) {
  char pattern[] = "/tmp/fathom-disks-XXXXXX";
  const std::string root = mkdtemp(pattern);
  for (const char* folder : {"/block", "/block/vda", "/block/vda/device", "/block/loop0"}) {
    ASSERT_EQ(mkdir((root + folder).c_str(), 0700), 0);
  }
  const DiskStat sum =
      sum_disks(kDisks, [&](const std::string& name) { return disk_holds_data(name, root); });
  EXPECT_EQ(sum.reads, 10);
  EXPECT_EQ(sum.read_bytes, 16 * 512);
  EXPECT_EQ(sum.written_bytes, 32 * 512);
  EXPECT_EQ(sum.in_flight, 5);
  EXPECT_EQ(sum.busy_ns, 6'000'000);
  for (const char* folder : {"/block/loop0", "/block/vda/device", "/block/vda", "/block"}) {
    rmdir((root + folder).c_str());
  }
  rmdir(root.c_str());
}

TEST(Net, LoopbackApart) {
  constexpr std::string_view kText =
      "Inter-|   Receive |  Transmit\n face |bytes packets\n    lo:    3267      29    0    0    0 "
      "    0          0 "
      "        0     3267      29    0    0    0     0       0          0\n"
      "  eth0:1000 2 3 4 0 0 0 0 5000 6 7 8 0 0 0 0\n";
  const auto nets = parse_net_dev(kText);
  ASSERT_EQ(nets.size(), 2U);
  EXPECT_EQ(nets[0].name, "lo");
  EXPECT_EQ(nets[1].name, "eth0");
  EXPECT_EQ(nets[1].received_bytes, 1000);
  EXPECT_EQ(nets[1].sent_bytes, 5000);
  EXPECT_EQ(nets[1].sent_drops, 8);
  EXPECT_EQ(sum_net(kText).outside.received_bytes, 1000);
  EXPECT_EQ(sum_net(kText).loopback.received_bytes, 3267);
}

TEST(Cpus, List) {
  EXPECT_EQ(parse_cpu_list("0-2,5\n").value(), (std::vector<int>{0, 1, 2, 5}));
  EXPECT_EQ(parse_cpu_list("0\n").value(), std::vector<int>{0});
  EXPECT_FALSE(parse_cpu_list("x").ok());
  EXPECT_FALSE(parse_cpu_list("5-2").ok());
}

TEST(System, ReadsThisMachine) {
  EXPECT_GT(read_system_stat().value().idle_ns, 0);
  EXPECT_GT(read_meminfo().value().total_bytes, 0);
  EXPECT_EQ(static_cast<int64_t>(online_cpus().value().size()), read_system_stat().value().cpus);
}

}  // namespace
}  // namespace fathom
