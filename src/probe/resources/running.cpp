// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/running.h"

#include <algorithm>

#include "base/clock.h"
#include "base/proc.h"

namespace fathom {
namespace {

Maybe less(const Maybe& now, const Maybe& before) {
  if (!now || !before) return std::nullopt;
  return std::max<int64_t>(0, *now - *before);
}

int64_t start_of(const ProcStat& stat) {
  return std::min(ticks_to_ns(stat.start_ticks) + boot_to_monotonic_ns(), monotonic_ns());
}

void take_io(const std::string& folder, TaskUsage& used) {
  const auto io = read_proc_io(folder);
  if (!io.ok()) return;
  used.read_chars = io.value().read_chars;
  used.written_chars = io.value().written_chars;
  used.disk_read_bytes = io.value().disk_read_bytes;
  used.disk_written_bytes = io.value().disk_written_bytes;
}

void take_status(const std::string& folder, TaskUsage& used) {
  const auto status = read_proc_status(folder);
  if (!status.ok()) return;
  used.voluntary_switches = status.value().voluntary_switches;
  used.involuntary_switches = status.value().involuntary_switches;
  used.peak_rss_bytes = status.value().peak_rss_bytes;
}

TaskUsage usage_in(const ProcStat& stat) {
  TaskUsage used;
  used.user_ns = stat.user_ns;
  used.system_ns = stat.system_ns;
  used.minor_faults = stat.minor_faults;
  used.major_faults = stat.major_faults;
  return used;
}

// Ticks give the ratio, the scheduler the sum.
void take_schedule(const std::string& folder, TaskUsage& used) {
  const auto schedule = read_proc_schedstat(folder);
  if (!schedule.ok()) return;
  used.cpu_ns = schedule.value().run_ns;
  used.wait_ns = schedule.value().wait_ns;
  const auto ticks = static_cast<double>(*used.user_ns + *used.system_ns);
  const double share = ticks > 0 ? static_cast<double>(*used.system_ns) / ticks : 0;
  used.system_ns = static_cast<int64_t>(static_cast<double>(*used.cpu_ns) * share);
  used.user_ns = *used.cpu_ns - *used.system_ns;
}

bool is_over(const ProcStat& stat) { return stat.state == 'Z' || stat.state == 'X'; }

std::optional<RunningThread> read_thread(int64_t pid, int64_t tid) {
  const std::string folder = proc_folder(pid, tid);
  const auto stat = read_proc_stat(folder);
  if (!stat.ok() || is_over(stat.value())) return std::nullopt;
  RunningThread thread{tid, start_of(stat.value()), stat.value().name, usage_in(stat.value())};
  take_schedule(folder, thread.used);
  take_status(folder, thread.used);
  thread.used.peak_rss_bytes.reset();  // the process has one, a thread has none
  take_io(folder, thread.used);
  return thread;
}

}  // namespace

std::optional<RunningProcess> read_running(int64_t pid) {
  const std::string folder = proc_folder(pid);
  const auto stat = read_proc_stat(folder);
  const auto tids = list_ids(folder + "/task");
  if (!stat.ok() || !tids.ok()) return std::nullopt;
  RunningProcess process;
  process.pid = pid;
  process.ppid = stat.value().ppid;
  process.start_ns = start_of(stat.value());
  process.name = stat.value().name;
  process.exe = read_proc_exe(folder).value_or("");
  process.args = read_proc_args(folder).value_or("");
  process.used = usage_in(stat.value());
  take_status(folder, process.used);
  take_io(folder, process.used);
  process.used.wait_ns = 0;
  for (const int64_t tid : tids.value()) {
    auto thread = read_thread(pid, tid);
    if (!thread) continue;
    process.used.wait_ns = *process.used.wait_ns + thread->used.wait_ns.value_or(0);
    process.threads.push_back(std::move(*thread));
  }
  if (process.threads.empty()) return std::nullopt;
  return process;
}

bool is_running(int64_t pid) {
  for (const int64_t tid : list_ids(proc_folder(pid) + "/task").value_or({})) {
    const auto stat = read_proc_stat(proc_folder(pid, tid));
    if (stat.ok() && !is_over(stat.value())) return true;
  }
  return false;
}

TaskUsage since(const TaskUsage& now, const TaskUsage& before) {
  TaskUsage used = now;
  for (Maybe TaskUsage::*figure :
       {&TaskUsage::user_ns, &TaskUsage::system_ns, &TaskUsage::cpu_ns, &TaskUsage::wait_ns,
        &TaskUsage::minor_faults, &TaskUsage::major_faults, &TaskUsage::read_chars,
        &TaskUsage::written_chars, &TaskUsage::disk_read_bytes, &TaskUsage::disk_written_bytes,
        &TaskUsage::voluntary_switches, &TaskUsage::involuntary_switches}) {
    used.*figure = less(now.*figure, before.*figure);
  }
  return used;
}

}  // namespace fathom
