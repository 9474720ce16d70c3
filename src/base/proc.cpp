// SPDX-License-Identifier: Apache-2.0
#include "base/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/clock.h"
#include "base/fd.h"
#include "base/scan.h"

namespace fathom {
namespace {

int64_t page_bytes() {
  static const int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

// Files of one process come whole with one read, if the buffer has the room.
struct Text {
  std::array<char, 8192> buffer;
  size_t size = 0;
  [[nodiscard]] std::string_view view() const { return {buffer.data(), size}; }
};

Status read_text(const std::string& path, Text& text) {
  TRY_ASSIGN(const Fd file, open_file(path, O_RDONLY));
  ssize_t got = -1;
  do {
    got = read(file.get(), text.buffer.data(), text.buffer.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) return errno_error("read " + path);
  text.size = static_cast<size_t>(got);
  return {};
}

// Numbers one after the other; after the first that is missing, all read as 0 and ok is false.
struct Numbers {
  std::string_view text;
  bool ok = true;

  int64_t next() {
    const auto number = take_number(text);
    ok = ok && number.has_value();
    return ok ? *number : 0;
  }
  void skip(int count) {
    for (; count > 0; --count) next();
  }
};

constexpr int64_t kKernelThread = 0x200000;  // PF_KTHREAD, among the flags in stat

}  // namespace

std::string proc_folder(int64_t pid, std::string_view root) {
  return std::string(root) + "/" + std::to_string(pid);
}
std::string proc_folder(int64_t pid, int64_t tid, std::string_view root) {
  return proc_folder(pid, root) + "/task/" + std::to_string(tid);
}

int64_t ticks_to_ns(int64_t ticks) {
  static const int64_t ns_per_tick = kNsPerSecond / sysconf(_SC_CLK_TCK);
  return ticks * ns_per_tick;
}

int64_t boot_to_monotonic_ns() { return -offset_ns_of(CLOCK_BOOTTIME); }

// proc_pid_stat(5). The name may hold anything, ')' and newlines too: it ends at the last ')'.
Result<ProcStat> parse_proc_stat(std::string_view text) {
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return unreadable("stat");
  }
  ProcStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  std::string_view before = text.substr(0, open);
  stat.pid = take_number(before).value_or(0);
  text.remove_prefix(close + 1);
  const std::string_view state = take_word(text);
  if (state.size() != 1) return unreadable("stat");
  stat.state = state.front();

  Numbers field{text};
  stat.ppid = field.next();
  stat.pgrp = field.next();
  stat.session = field.next();
  field.skip(2);  // terminal, its group
  stat.is_kernel_thread = (field.next() & kKernelThread) != 0;
  stat.minor_faults = field.next();
  stat.child_minor_faults = field.next();
  stat.major_faults = field.next();
  stat.child_major_faults = field.next();
  stat.user_ns = ticks_to_ns(field.next());
  stat.system_ns = ticks_to_ns(field.next());
  stat.child_user_ns = ticks_to_ns(field.next());
  stat.child_system_ns = ticks_to_ns(field.next());
  stat.priority = field.next();
  stat.nice = field.next();
  stat.threads = field.next();
  field.skip(1);
  stat.start_ticks = field.next();
  stat.virtual_bytes = field.next();
  stat.rss_bytes = field.next() * page_bytes();
  if (!field.ok) return unreadable("stat");
  field.skip(14);  // limits, addresses, signals, exit signal
  stat.cpu = field.next();
  field.skip(2);
  const int64_t delay_ticks = field.next();
  if (field.ok) stat.block_delay_ns = ticks_to_ns(delay_ticks);
  field.skip(9);  // guest times, addresses
  const int64_t exit_code = field.next();
  if (field.ok) stat.exit_code = exit_code;
  return stat;
}

Result<ProcStat> read_proc_stat(const std::string& folder) {
  Text text;
  TRY(read_text(folder + "/stat", text));
  return parse_proc_stat(text.view());
}

ProcStatus parse_proc_status(std::string_view text) {
  ProcStatus status;
  struct Field {
    std::string_view key;
    std::optional<int64_t>* value;
    int64_t unit;
  };
  const std::array<Field, 10> fields = {{
      {"VmSize:", &status.virtual_bytes, kKib},
      {"VmHWM:", &status.peak_rss_bytes, kKib},
      {"VmRSS:", &status.rss_bytes, kKib},
      {"RssAnon:", &status.anonymous_bytes, kKib},
      {"RssFile:", &status.file_bytes, kKib},
      {"RssShmem:", &status.shared_bytes, kKib},
      {"VmSwap:", &status.swap_bytes, kKib},
      {"Threads:", &status.threads, 1},
      {"voluntary_ctxt_switches:", &status.voluntary_switches, 1},
      {"nonvoluntary_ctxt_switches:", &status.involuntary_switches, 1},
  }};
  size_t expected = 0;  // the kernel keeps this order: mostly one comparison a line
  while (auto line = take_line(text)) {
    const std::string_view key = take_word(*line);
    for (size_t at = expected; at < fields.size(); ++at) {
      if (fields[at].key != key) continue;
      if (const auto number = take_number(*line)) *fields[at].value = *number * fields[at].unit;
      expected = at + 1;
      break;
    }
  }
  return status;
}

Result<ProcStatus> read_proc_status(const std::string& folder) {
  Text text;
  TRY(read_text(folder + "/status", text));
  return parse_proc_status(text.view());
}

int64_t parse_seccomp_filters(std::string_view status) {
  std::optional<int64_t> mode, filters;
  while (auto line = take_line(status)) {
    const std::string_view key = take_word(*line);
    if (key == "Seccomp:") mode = take_number(*line);
    if (key == "Seccomp_filters:") filters = take_number(*line);
  }
  return filters.value_or(mode.value_or(0) != 0 ? 1 : 0);
}

int64_t read_seccomp_filters(const std::string& folder) {
  Text text;
  return read_text(folder + "/status", text).ok() ? parse_seccomp_filters(text.view()) : 0;
}

Result<ProcIo> parse_proc_io(std::string_view text) {
  ProcIo io;
  const std::array<int64_t*, 6> values = {&io.read_chars,      &io.written_chars,
                                          &io.read_calls,      &io.write_calls,
                                          &io.disk_read_bytes, &io.disk_written_bytes};
  for (int64_t* value : values) {
    auto line = take_line(text);
    if (!line) return unreadable("io");
    take_word(*line);
    const auto number = take_number(*line);
    if (!number) return unreadable("io");
    *value = *number;
  }
  return io;
}

Result<ProcIo> read_proc_io(const std::string& folder) {
  Text text;
  TRY(read_text(folder + "/io", text));
  return parse_proc_io(text.view());
}

Result<ProcSchedstat> parse_proc_schedstat(std::string_view text) {
  Numbers field{text};
  ProcSchedstat schedstat;
  schedstat.run_ns = field.next();
  schedstat.wait_ns = field.next();
  schedstat.slices = field.next();
  if (!field.ok) return unreadable("schedstat");
  return schedstat;
}

Result<ProcSchedstat> read_proc_schedstat(const std::string& folder) {
  Text text;
  TRY(read_text(folder + "/schedstat", text));
  return parse_proc_schedstat(text.view());
}

Result<ProcMemory> parse_proc_smaps_rollup(std::string_view text) {
  std::optional<int64_t> rss, pss, swap;
  ProcMemory memory;
  while (auto line = take_line(text)) {
    const std::string_view key = take_word(*line);
    const auto kib = take_number(*line);
    if (!kib) continue;
    if (key == "Rss:") rss = *kib * kKib;
    if (key == "Pss:") pss = *kib * kKib;
    if (key == "Pss_Anon:") memory.pss_anonymous_bytes = *kib * kKib;
    if (key == "Pss_File:") memory.pss_file_bytes = *kib * kKib;
    if (key == "Swap:") swap = *kib * kKib;
    if (key == "SwapPss:") memory.swap_pss_bytes = *kib * kKib;
  }
  if (!rss || !pss || !swap) return unreadable("smaps_rollup");
  memory.rss_bytes = *rss;
  memory.pss_bytes = *pss;
  memory.swap_bytes = *swap;
  return memory;
}

Result<ProcMemory> read_proc_smaps_rollup(const std::string& folder) {
  Text text;
  TRY(read_text(folder + "/smaps_rollup", text));
  return parse_proc_smaps_rollup(text.view());
}

std::vector<int64_t> parse_numbers(std::string_view text) {
  std::vector<int64_t> numbers;
  while (const auto number = take_number(text)) numbers.push_back(*number);
  return numbers;
}

Result<std::vector<int64_t>> read_proc_children(const std::string& thread_folder) {
  auto text = read_file(thread_folder + "/children");
  if (text.ok()) return parse_numbers(text.value());
  if (access((thread_folder + "/stat").c_str(), F_OK) != 0) return std::move(text).error();
  return Error{Code::kUnsupported, "the kernel has no list of children (CONFIG_PROC_CHILDREN)"};
}

Result<std::vector<int64_t>> list_ids(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (!entries) return errno_error("open " + folder);
  std::vector<int64_t> ids;
  while (const dirent* entry = readdir(entries.get())) {
    if (const auto id = to_number(entry->d_name)) ids.push_back(*id);
  }
  return ids;
}

// Since Linux 6.2 the folder's size is the count; before, it is 0.
Result<int64_t> count_fds(const std::string& folder) {
  const std::string path = folder + "/fd";
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return errno_error("stat " + path);
  if (facts.st_size > 0) return int64_t{facts.st_size};
  TRY_ASSIGN(const auto ids, list_ids(path));
  return static_cast<int64_t>(ids.size());
}

std::optional<int64_t> count_fds(int fds_folder) {
  struct stat facts {};
  if (fstat(fds_folder, &facts) != 0 || facts.st_size <= 0) return std::nullopt;
  return int64_t{facts.st_size};
}

Result<std::string> read_proc_name(const std::string& folder) {
  Text text;
  TRY(read_text(folder + "/comm", text));
  std::string_view name = text.view();
  if (name.ends_with('\n')) name.remove_suffix(1);
  return std::string(name);
}

Result<std::string> read_proc_args(const std::string& folder, size_t most) {
  Text text;
  TRY(read_text(folder + "/cmdline", text));
  return std::string(text.view().substr(0, most));
}

Result<std::string> read_proc_exe(const std::string& folder) {
  std::array<char, 4096> target{};
  const std::string path = folder + "/exe";
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  if (size < 0) return errno_error("readlink " + path);
  return std::string(target.data(), static_cast<size_t>(size));
}

}  // namespace fathom
