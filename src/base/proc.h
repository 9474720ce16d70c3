// SPDX-License-Identifier: Apache-2.0
// What /proc says about one process or thread. Each file is parsed by a pure function from its
// text, and read by one that takes the folder ("/proc/123", "/proc/123/task/124"), so that tests
// feed fixtures. One read(2) a file. A field a kernel does not give is absent; 0 means the kernel
// said 0. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

// "/proc/123" and "/proc/123/task/124".
std::string proc_folder(int64_t pid, std::string_view root = "/proc");
std::string proc_folder(int64_t pid, int64_t tid, std::string_view root = "/proc");

struct ProcStat {
  int64_t pid = 0;  // of a thread: its tid
  std::string name;
  char state = '?';
  int64_t ppid = 0, pgrp = 0, session = 0;
  int64_t minor_faults = 0, child_minor_faults = 0, major_faults = 0, child_major_faults = 0;
  int64_t user_ns = 0, system_ns = 0, child_user_ns = 0, child_system_ns = 0;
  int64_t priority = 0, nice = 0, threads = 0;
  int64_t start_ticks = 0;  // since boot; with pid, it names a process for good
  int64_t virtual_bytes = 0, rss_bytes = 0;
  int64_t cpu = 0;                        // last ran on
  std::optional<int64_t> block_delay_ns;  // absent before the kernel counted it
  bool is_kernel_thread = false;
  std::optional<int64_t> exit_code;  // of a zombie, as wait(2) has it; 0 if we may not know
};
Result<ProcStat> parse_proc_stat(std::string_view text);
Result<ProcStat> read_proc_stat(const std::string& folder);

struct ProcStatus {
  std::optional<int64_t> rss_bytes, peak_rss_bytes, anonymous_bytes, file_bytes, shared_bytes,
      swap_bytes;
  std::optional<int64_t> virtual_bytes, threads, voluntary_switches, involuntary_switches;
};
ProcStatus parse_proc_status(std::string_view text);
Result<ProcStatus> read_proc_status(const std::string& folder);

// Number of seccomp filters; before Linux 5.9, which does not report it, 1 if there is any.
int64_t parse_seccomp_filters(std::string_view status);
int64_t read_seccomp_filters(const std::string& folder);  // 0 if it cannot be read

// Of a process this includes the threads and children it has waited for. Only its owner may read
// it.
struct ProcIo {
  int64_t read_chars = 0, written_chars = 0, read_calls = 0, write_calls = 0;
  int64_t disk_read_bytes = 0, disk_written_bytes = 0;
};
Result<ProcIo> parse_proc_io(std::string_view text);
Result<ProcIo> read_proc_io(const std::string& folder);

// Of one thread: a process folder gives that of its first thread.
struct ProcSchedstat {
  int64_t run_ns = 0, wait_ns = 0, slices = 0;
};
Result<ProcSchedstat> parse_proc_schedstat(std::string_view text);
Result<ProcSchedstat> read_proc_schedstat(const std::string& folder);

struct ProcMemory {
  int64_t rss_bytes = 0, pss_bytes = 0, swap_bytes = 0;
  std::optional<int64_t> pss_anonymous_bytes, pss_file_bytes, swap_pss_bytes;
};
Result<ProcMemory> parse_proc_smaps_rollup(std::string_view text);
Result<ProcMemory> read_proc_smaps_rollup(const std::string& folder);

// Numbers parted by blanks, as in "children" and in ids found as file names.
std::vector<int64_t> parse_numbers(std::string_view text);
// Children that this thread forked; kUnsupported where the kernel has no such file.
Result<std::vector<int64_t>> read_proc_children(const std::string& thread_folder);
// Folder entries that are numbers: threads of "/proc/1/task", processes of "/proc".
Result<std::vector<int64_t>> list_ids(const std::string& folder);
Result<int64_t> count_fds(const std::string& folder);
// The same by a descriptor of its folder "fd"; absent where the kernel does not count them.
std::optional<int64_t> count_fds(int fds_folder);

Result<std::string> read_proc_name(const std::string& folder);  // without the newline at the end
Result<std::string> read_proc_args(const std::string& folder, size_t most = 4096);  // NUL separated
Result<std::string> read_proc_exe(const std::string& folder);

// What to add to a start time since boot to get CLOCK_MONOTONIC: the machine's time asleep,
// negated.
int64_t boot_to_monotonic_ns();
int64_t ticks_to_ns(int64_t ticks);

}  // namespace fathom
