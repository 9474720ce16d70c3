// SPDX-License-Identifier: Apache-2.0
#include "base/proc.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/scan.h"

namespace fathom {
namespace {

// Field 25 is the highest 64-bit number, as the kernel writes "no limit".
constexpr std::string_view kStat =
    "4321 (a) R 1 (b\nc) S 17 18 19 0 -1 4194304 101 102 103 104 5 6 7 8 20 -5 9 0 123456 8192000 "
    "250 "
    "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 2 0 0 0 0 0 0 0 0 0 0\n";

TEST(ProcStat, NameMayHoldAnything) {
  const auto stat = parse_proc_stat(kStat);
  ASSERT_TRUE(stat.ok());
  EXPECT_EQ(stat.value().pid, 4321);
  EXPECT_EQ(stat.value().name, "a) R 1 (b\nc");
  EXPECT_EQ(stat.value().state, 'S');
  EXPECT_EQ(stat.value().ppid, 17);
  EXPECT_EQ(stat.value().session, 19);
}

TEST(ProcStat, FieldsAndUnits) {
  const ProcStat stat = parse_proc_stat(kStat).value();
  EXPECT_EQ(stat.minor_faults, 101);
  EXPECT_EQ(stat.child_major_faults, 104);
  EXPECT_EQ(stat.user_ns, ticks_to_ns(5));
  EXPECT_EQ(stat.child_system_ns, ticks_to_ns(8));
  EXPECT_EQ(stat.nice, -5);
  EXPECT_EQ(stat.threads, 9);
  EXPECT_EQ(stat.start_ticks, 123456);
  EXPECT_EQ(stat.virtual_bytes, 8192000);
  EXPECT_EQ(stat.rss_bytes, 250 * sysconf(_SC_PAGESIZE));
  EXPECT_EQ(stat.cpu, 3);
  EXPECT_EQ(stat.block_delay_ns, ticks_to_ns(2));
}

TEST(ProcStat, CutOrEmptyTextIsAnError) {
  EXPECT_FALSE(parse_proc_stat("").ok());
  EXPECT_FALSE(parse_proc_stat("12 (x").ok());
  EXPECT_FALSE(parse_proc_stat(")(").ok());
  for (size_t length = 0; length < 80; ++length)
    EXPECT_FALSE(parse_proc_stat(kStat.substr(0, length)).ok());
}

TEST(ProcStat, OfThisProcess) {
  char before[16] = {};
  prctl(PR_GET_NAME, before);
  prctl(PR_SET_NAME, "x) (y\nz");
  const auto stat = read_proc_stat(proc_folder(getpid()));
  prctl(PR_SET_NAME, before);
  ASSERT_TRUE(stat.ok());
  EXPECT_EQ(stat.value().name, "x) (y\nz");
  EXPECT_EQ(stat.value().ppid, getppid());
  EXPECT_GT(stat.value().rss_bytes, 0);
  const int64_t start_ns = ticks_to_ns(stat.value().start_ticks) + boot_to_monotonic_ns();
  EXPECT_LT(start_ns, monotonic_ns());
  EXPECT_GT(start_ns, monotonic_ns() - 600 * kNsPerSecond);
}

TEST(ProcStatus, SeccompFiltersAreCounted) {
  EXPECT_EQ(parse_seccomp_filters("NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t3\n"), 3);
  EXPECT_EQ(parse_seccomp_filters("Seccomp:\t0\nSeccomp_filters:\t0\n"), 0);
  EXPECT_EQ(parse_seccomp_filters("Seccomp:\t2\nThreads:\t3\n"), 1) << "before Linux 5.9";
  EXPECT_EQ(parse_seccomp_filters("Threads:\t3\n"), 0);
}

TEST(ProcStatus, AbsentIsNotZero) {
  const ProcStatus status = parse_proc_status(
      "Name:\tVmRSS: 5 kB\nVmSize:\t  100 kB\nVmHWM:\t      90 kB\nVmRSS:\t      80 kB\nVmSwap:\t "
      "0 kB\n"
      "Threads:\t3\nvoluntary_ctxt_switches:\t11\nnonvoluntary_ctxt_switches:\t12\n");
  EXPECT_EQ(status.peak_rss_bytes, 90 * 1024);
  EXPECT_EQ(status.rss_bytes, 80 * 1024);
  EXPECT_EQ(status.swap_bytes, 0);
  EXPECT_EQ(status.threads, 3);
  EXPECT_EQ(status.voluntary_switches, 11);
  EXPECT_EQ(status.involuntary_switches, 12);
  EXPECT_FALSE(status.anonymous_bytes.has_value());
}

TEST(ProcIo, ParsesAndRefuses) {
  const auto io = parse_proc_io(
      "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: "
      "6\ncancelled_write_bytes: 7\n");
  ASSERT_TRUE(io.ok());
  EXPECT_EQ(io.value().written_chars, 2);
  EXPECT_EQ(io.value().disk_written_bytes, 6);
  EXPECT_FALSE(parse_proc_io("rchar: 1\nwchar: x\n").ok());
}

TEST(ProcSchedstat, Parses) {
  const auto schedstat = parse_proc_schedstat("123456789 987 55\n");
  ASSERT_TRUE(schedstat.ok());
  EXPECT_EQ(schedstat.value().run_ns, 123456789);
  EXPECT_EQ(schedstat.value().wait_ns, 987);
  EXPECT_FALSE(parse_proc_schedstat("").ok());
}

TEST(ProcMemory, RollupOfText) {
  const auto memory = parse_proc_smaps_rollup(
      "55d0-7ffd ---p 00000000 00:00 0    [rollup]\nRss:  100 kB\nPss:  41 kB\nPss_Anon: 40 "
      "kB\nSwap: 7 kB\n");
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory.value().pss_bytes, 41 * 1024);
  EXPECT_EQ(memory.value().pss_anonymous_bytes, 40 * 1024);
  EXPECT_FALSE(memory.value().pss_file_bytes.has_value());
  EXPECT_FALSE(parse_proc_smaps_rollup("Rss: 1 kB\n").ok());
}

TEST(Proc, ReadsAllOfThisProcess) {
  const std::string folder = proc_folder(getpid());
  EXPECT_GT(read_proc_status(folder).value().peak_rss_bytes.value_or(0), 0);
  EXPECT_GT(read_proc_smaps_rollup(folder).value().pss_bytes, 0);
  // Counted at a tick or a switch: a young process has nothing yet.
  for (int tries = 0; tries < 1000 && read_proc_schedstat(folder).value().run_ns == 0; ++tries)
    usleep(1000);
  EXPECT_GT(read_proc_schedstat(folder).value().run_ns, 0);
  EXPECT_TRUE(read_proc_io(folder).ok());
  EXPECT_TRUE(read_proc_exe(folder).ok());
  EXPECT_EQ(list_ids(folder + "/task").value().size(), 1U);
  EXPECT_FALSE(read_proc_name(folder).value().ends_with('\n'));
  EXPECT_NE(read_proc_args(folder).value().find('\0'), std::string::npos);
}

TEST(Proc, CountsFds) {
  const std::string folder = proc_folder(getpid());
  const int64_t before = count_fds(folder).value();
  const Fd one = open_file("/dev/null", O_RDONLY).value();
  const Fd two = open_file("/dev/null", O_RDONLY).value();
  EXPECT_EQ(count_fds(folder).value(), before + 2);
}

TEST(Proc, NoSuchProcess) {
  const auto stat = read_proc_stat(proc_folder(int64_t{1} << 40));
  ASSERT_FALSE(stat.ok());
  EXPECT_EQ(stat.error().code, Code::kNotFound);
  EXPECT_EQ(read_proc_children(proc_folder(int64_t{1} << 40, 1)).error().code, Code::kNotFound);
}

TEST(Scan, Numbers) {
  EXPECT_EQ(parse_numbers("12 7 9 \n"), (std::vector<int64_t>{12, 7, 9}));
  EXPECT_EQ(parse_numbers(""), std::vector<int64_t>{});
  EXPECT_FALSE(to_number("12x").has_value());
  EXPECT_FALSE(to_number("").has_value());
}

}  // namespace
}  // namespace fathom
