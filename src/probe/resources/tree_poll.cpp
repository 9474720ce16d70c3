// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/tree_poll.h"

#include <algorithm>
#include <string>

#include "base/clock.h"

namespace fathom {
namespace {

constexpr int64_t kPssCostFactor = 1000;  // proportional memory may take a thousandth of the time
constexpr size_t kMaxThreadsRead = 64;
constexpr size_t kMaxOpen = 128;
constexpr int kMostMisses = 5;

void add_to(Maybe& sum, int64_t more) { sum = sum.value_or(0) + more; }

void raise(int64_t& total, int64_t now) { total = std::max(total, now); }
void raise(Maybe& total, const Maybe& now) {
  if (now) total = std::max(total.value_or(0), *now);
}

void add_io(TreeFigures& sum, const ProcIo& io) {
  add_to(sum.read_chars, io.read_chars);
  add_to(sum.written_chars, io.written_chars);
  add_to(sum.disk_read_bytes, io.disk_read_bytes);
  add_to(sum.disk_written_bytes, io.disk_written_bytes);
}

void add_sums(TreeFigures& sum, const TreeFigures& more, int sign) {
  for (int64_t TreeFigures::*figure : {&TreeFigures::user_ns, &TreeFigures::system_ns,
                                       &TreeFigures::minor_faults, &TreeFigures::major_faults})
    sum.*figure += sign * more.*figure;
  for (Maybe TreeFigures::*figure :
       {&TreeFigures::read_chars, &TreeFigures::written_chars, &TreeFigures::disk_read_bytes,
        &TreeFigures::disk_written_bytes}) {
    if (more.*figure) add_to(sum.*figure, sign * *(more.*figure));
  }
}

void add_stat(TreeFigures& sum, const ProcStat& now) {
  sum.user_ns += now.user_ns + now.child_user_ns;
  sum.system_ns += now.system_ns + now.child_system_ns;
  sum.minor_faults += now.minor_faults + now.child_minor_faults;
  sum.major_faults += now.major_faults + now.child_major_faults;
}

// Runnable but waiting for a core, over the threads that live now.
Maybe waiting_ns(const std::string& folder) {
  const auto threads = list_ids(folder + "/task");
  if (!threads.ok() || threads.value().size() > kMaxThreadsRead) return std::nullopt;
  Maybe sum;
  for (const int64_t tid : threads.value()) {
    const auto stat = read_proc_schedstat(folder + "/task/" + std::to_string(tid));
    if (stat.ok()) add_to(sum, stat.value().wait_ns);
  }
  return sum;
}

}  // namespace

void TreePoll::adopt(int64_t pid) {
  const std::string folder = proc_folder(pid);
  if (const auto stat = read_proc_stat(folder); stat.ok()) add_stat(before_, stat.value());
  if (const auto io = read_proc_io(folder); io.ok()) add_io(before_, io.value());
}

const TreeFigures& TreePoll::look(ProcessTable& table, bool thorough) {
  TreeFigures sum = departed_;
  sum.rss_bytes = 0;
  add_sums(sum, before_, -1);
  for (auto& [pid, seen] : seen_) seen.alive = false;
  const int64_t now_ns = monotonic_ns();
  const bool want_pss = wants_.pss && thorough && now_ns >= pss_not_before_ns_;
  if (want_pss) sum.pss_bytes = 0;
  for (const int64_t pid : table.live()) look_at(pid, table, thorough, sum);
  if (want_pss) pss_not_before_ns_ = now_ns + (monotonic_ns() - now_ns) * kPssCostFactor;
  forget_the_dead();
  raise(sum);
  return figures_;
}

// Files of up to kMaxOpen processes stay open; of more, they are opened for each look.
TreePoll::Seen& TreePoll::seen(int64_t pid, const std::string& folder) {
  const auto [entry, added] = seen_.try_emplace(pid);
  if (added && seen_.size() <= kMaxOpen) {
    entry->second.stat_file = RereadFile(folder + "/stat");
    entry->second.io_file = RereadFile(folder + "/io");
  }
  return entry->second;
}

void TreePoll::look_at(int64_t pid, ProcessTable& table, bool thorough, TreeFigures& sum) {
  const std::string folder = proc_folder(pid);
  Seen& seen = this->seen(pid, folder);
  const auto stat =
      seen.stat_file.valid() ? parse_proc_stat(seen.stat_file.read()) : read_proc_stat(folder);
  seen.alive = true;
  if (!stat.ok()) {
    if (++seen.misses >= kMostMisses) table.vanished(pid, monotonic_ns());
    return;
  }
  seen.misses = 0;
  const ProcStat& now = stat.value();
  sum.rss_bytes += now.rss_bytes;
  sum.threads += now.threads;
  seen.ppid = now.ppid;
  seen.last = {};
  add_stat(seen.last, now);
  TaskUsage look;
  look.user_ns = now.user_ns;
  look.system_ns = now.system_ns;
  look.minor_faults = now.minor_faults;
  look.major_faults = now.major_faults;
  look.peak_rss_bytes = look.rss_bytes = now.rss_bytes;
  const auto io = seen.io_file.valid() ? parse_proc_io(seen.io_file.read()) : read_proc_io(folder);
  if (io.ok()) {
    add_io(seen.last, io.value());
    look.read_chars = io.value().read_chars;
    look.written_chars = io.value().written_chars;
    look.disk_read_bytes = io.value().disk_read_bytes;
    look.disk_written_bytes = io.value().disk_written_bytes;
  }
  add_sums(sum, seen.last, 1);
  if (thorough || wants_.peaks) look_thoroughly(folder, look, sum);
  table.polled(pid, look, thorough);
}

void TreePoll::look_thoroughly(const std::string& folder, TaskUsage& look, TreeFigures& sum) {
  if (const auto status = read_proc_status(folder); status.ok()) {
    if (status.value().peak_rss_bytes) look.peak_rss_bytes = status.value().peak_rss_bytes;
    look.voluntary_switches = status.value().voluntary_switches;
    look.involuntary_switches = status.value().involuntary_switches;
  }
  look.wait_ns = waiting_ns(folder);
  if (const auto fds = count_fds(folder); fds.ok()) add_to(sum.fds, fds.value());
  if (!sum.pss_bytes) return;
  if (const auto memory = read_proc_smaps_rollup(folder); memory.ok())
    add_to(sum.pss_bytes, memory.value().pss_bytes);
}

// What a process has used goes to the parent that waits for it. If that is a stranger, and nobody
// here reaps in its place, it would be lost.
void TreePoll::forget_the_dead() {
  for (const auto& [pid, seen] : seen_) {
    const auto parent = seen_.find(seen.ppid);
    const bool inherited = parent != seen_.end() && parent->second.alive;
    if (!seen.alive && !inherited && !wants_.orphans) add_sums(departed_, seen.last, 1);
  }
  std::erase_if(seen_, [](const auto& entry) { return !entry.second.alive; });
}

void TreePoll::raise(const TreeFigures& sum) {
  figures_.rss_bytes = sum.rss_bytes;
  figures_.threads = sum.threads;
  figures_.pss_bytes = sum.pss_bytes;
  figures_.fds = sum.fds;
  fathom::raise(figures_.user_ns, sum.user_ns);
  fathom::raise(figures_.system_ns, sum.system_ns);
  figures_.voluntary_switches = sum.voluntary_switches;
  figures_.involuntary_switches = sum.involuntary_switches;
  figures_.largest_rss_bytes = sum.largest_rss_bytes;
  fathom::raise(figures_.minor_faults, sum.minor_faults);
  fathom::raise(figures_.major_faults, sum.major_faults);
  fathom::raise(figures_.read_chars, sum.read_chars);
  fathom::raise(figures_.written_chars, sum.written_chars);
  fathom::raise(figures_.disk_read_bytes, sum.disk_read_bytes);
  fathom::raise(figures_.disk_written_bytes, sum.disk_written_bytes);
}

void TreePoll::departed(const Departure& departure) {
  departed_.user_ns += departure.user_ns;
  departed_.system_ns += departure.system_ns;
  departed_.minor_faults += departure.minor_faults;
  departed_.major_faults += departure.major_faults;
  departed_.voluntary_switches += departure.voluntary_switches;
  departed_.involuntary_switches += departure.involuntary_switches;
  fathom::raise(departed_.largest_rss_bytes, departure.max_rss_bytes);
  seen_.erase(departure.pid);
  if (!departure.io) return;
  ProcIo io;
  io.read_chars = departure.io->read_chars;
  io.written_chars = departure.io->written_chars;
  io.disk_read_bytes = departure.io->disk_read_bytes;
  io.disk_written_bytes = departure.io->disk_written_bytes;
  add_io(departed_, io);
}

}  // namespace fathom
