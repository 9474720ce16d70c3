// SPDX-License-Identifier: Apache-2.0
// The part of the process table that knows of time before the recording.
#include <algorithm>

#include "base/clock.h"
#include "base/text.h"
#include "probe/resources/mpi_rank.h"
#include "probe/resources/process_table.h"

namespace fathom {

void ProcessTable::Adopted::leave_out(const RunningProcess& process) {
  look = process.used;  // a thread that is not there ended just now, and will tell
  for (const RunningThread& thread : process.threads) threads[thread.tid] = thread.used;
}

void ProcessTable::adopt(const RunningProcess& process, int64_t attach_ns) {
  Entry* parent = find(process.ppid);
  if (parent != nullptr) parent->has_children = true;
  Entry& entry = add(process.pid, parent != nullptr ? Maybe(process.ppid) : std::nullopt,
                     process.start_ns, out_.string(process.name));
  entry.row.exe = out_.string(process.exe);
  entry.row.args = out_.string(quoted_arguments(process.args));
  entry.row.mpi_rank = mpi_rank_of(process.pid);
  entry.starts_ranks = starts_ranks(process.name);
  auto adopted = std::make_unique<Adopted>();
  adopted->time_ns = monotonic_ns();
  for (const RunningThread& thread : process.threads)
    add_thread(entry, thread.tid, thread.start_ns, out_.string(thread.name));
  if (process.start_ns < attach_ns) adopted->leave_out(process);
  entry.adopted = std::move(adopted);
}

void ProcessTable::rebase(const RunningProcess& process) {
  Entry* entry = find(process.pid);
  if (entry == nullptr || !entry->alive) return;
  if (!entry->adopted) {
    entry->adopted = std::make_unique<Adopted>();
    entry->adopted->time_ns = entry->row.start_ns;
  }
  entry->adopted->leave_out(process);
  entry->ended = {};
}

void ProcessTable::settle(const RunningProcess& process) {
  Entry* entry = find(process.pid);
  if (entry == nullptr || !entry->alive || entry->settled) return;
  for (const RunningThread& thread : process.threads) {
    const auto known = entry->live_threads.find(thread.tid);
    if (known == entry->live_threads.end()) continue;  // it ended meanwhile, and told
    const TaskUsage used = period_usage(*entry, thread.tid, thread.used);
    add_usage(entry->ended, used);
    entry->told_at_exit = entry->told_at_exit || used.written_chars.has_value();
    known->second.row.user_ns = used.user_ns;
    known->second.row.system_ns = used.system_ns;
    known->second.row.cpu_ns = used.cpu_ns;
    touch(known->second);
  }
  entry->settled = true;
  touch(*entry);
}

void ProcessTable::tell_end(Run& run) const {
  const auto root = entries_.find(root_pid_);
  if (root == entries_.end() || root->second.alive || run.exit_status || run.exit_signal) return;
  run.exit_status = root->second.row.exit_status;
  run.exit_signal = root->second.row.exit_signal;
}

TaskUsage ProcessTable::period_look(const Entry& entry) {
  if (!entry.adopted || !entry.adopted->look) return entry.last_look;
  return since(entry.last_look, *entry.adopted->look);
}

// The kernel's peak of a process is since its exec. It is one of the recording's time if it rose in
// it; else the largest that was seen will do.
Maybe ProcessTable::period_peak(const Entry& entry, const TaskUsage& told) {
  const Maybe peak = told.peak_rss_bytes ? told.peak_rss_bytes : entry.last_look.peak_rss_bytes;
  if (!entry.adopted || !entry.adopted->look) return peak;
  if (peak > entry.adopted->look->peak_rss_bytes) return peak;
  return entry.adopted->seen_rss_bytes;
}

TaskUsage ProcessTable::period_usage(const Entry& entry, int64_t tid, const TaskUsage& used) {
  if (!entry.adopted) return used;
  const auto before = entry.adopted->threads.find(tid);
  return before == entry.adopted->threads.end() ? used : since(used, before->second);
}

}  // namespace fathom
