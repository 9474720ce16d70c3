// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/tree_poll.h"

#include <fcntl.h>

#include <algorithm>
#include <string>

#include "base/clock.h"

namespace fathom {
namespace {

// Proportional memory may take a thousandth of the time, of many containers a 5000th.
constexpr int64_t kPssCostFactor = 1000, kPssCostFactorOfMany = 5000;
constexpr size_t kMaxThreadsRead = 64;
constexpr size_t kMaxOpen = 128;
constexpr int kMostMisses = 5;
// Of one that was born and ended between two looks, of which a curve would miss less.
constexpr int64_t kWorthLookingNs = 5 * kNsPerMs;
constexpr int64_t kWholeEvery =
    10;  // looks, also at those that sleep: the kernel takes memory back
constexpr int64_t kAwake = 4, kAwakeEvery = 4;  // looks

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

void add_bytes(TreeFigures& sum, const TreeFigures& more, int sign) {
  for (Maybe TreeFigures::*figure :
       {&TreeFigures::read_chars, &TreeFigures::written_chars, &TreeFigures::disk_read_bytes,
        &TreeFigures::disk_written_bytes}) {
    if (more.*figure) add_to(sum.*figure, sign * *(more.*figure));
  }
}

void raise_bytes(TreeFigures& total, const TreeFigures& now) {
  raise(total.read_chars, now.read_chars);
  raise(total.written_chars, now.written_chars);
  raise(total.disk_read_bytes, now.disk_read_bytes);
  raise(total.disk_written_bytes, now.disk_written_bytes);
}

void add_sums(TreeFigures& sum, const TreeFigures& more, int sign) {
  for (int64_t TreeFigures::*figure :
       {&TreeFigures::user_ns, &TreeFigures::system_ns, &TreeFigures::minor_faults,
        &TreeFigures::major_faults, &TreeFigures::cpu_ns})
    sum.*figure += sign * more.*figure;
  add_bytes(sum, more, sign);
}

// What a process has now.
void add_levels(TreeFigures& sum, const TreeFigures& more) {
  sum.rss_bytes += more.rss_bytes;
  sum.threads += more.threads;
  if (more.fds) add_to(sum.fds, *more.fds);
  if (sum.pss_bytes && more.pss_bytes) add_to(sum.pss_bytes, *more.pss_bytes);
}

// The clock of a process, as clock_getcpuclockid(3) names it: all threads, ended ones included.
Maybe process_clock_ns(int64_t pid) {
  constexpr unsigned kScheduler = 2;  // of the kernel's clocks, the one in nanoseconds
  timespec time{};
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3U) | kScheduler);
  if (clock_gettime(clock, &time) != 0) return std::nullopt;
  return int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec;
}

void add_stat(TreeFigures& sum, int64_t pid, const ProcStat& now) {
  sum.cpu_ns += process_clock_ns(pid).value_or(now.user_ns + now.system_ns) + now.child_user_ns +
                now.child_system_ns;
  sum.user_ns += now.user_ns + now.child_user_ns;
  sum.system_ns += now.system_ns + now.child_system_ns;
  sum.minor_faults += now.minor_faults + now.child_minor_faults;
  sum.major_faults += now.major_faults + now.child_major_faults;
}

Result<ProcStat> stat_of(const RereadFile& open, const std::string& folder) {
  return open.valid() ? parse_proc_stat(open.read()) : read_proc_stat(folder);
}
Result<ProcIo> io_of(const RereadFile& open, const std::string& folder) {
  return open.valid() ? parse_proc_io(open.read()) : read_proc_io(folder);
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

void TreePoll::adopt(int64_t pid, int64_t container) {
  const std::string folder = proc_folder(pid);
  if (const auto stat = read_proc_stat(folder); stat.ok()) add_stat(before_, pid, stat.value());
  const auto io = read_proc_io(folder);
  if (!io.ok()) return;
  add_io(before_, io.value());
  if (container != 0) add_io(containers_[container].before, io.value());
}

TreeFigures io_of(const TaskUsage& usage) {
  TreeFigures figures;
  figures.read_chars = usage.read_chars;
  figures.written_chars = usage.written_chars;
  figures.disk_read_bytes = usage.disk_read_bytes;
  figures.disk_written_bytes = usage.disk_written_bytes;
  return figures;
}

void write_io(GaugeWriter& gauges, const TreeFigures& tree) {
  gauges.put("read_chars_total", "bytes", tree.read_chars);
  gauges.put("written_chars_total", "bytes", tree.written_chars);
  gauges.put("disk_read_total", "bytes", tree.disk_read_bytes);
  gauges.put("disk_written_total", "bytes", tree.disk_written_bytes);
}

void write_figures(GaugeWriter& gauges, const TreeFigures& tree, int64_t processes) {
  gauges.put("cpu_total", "ns", tree.cpu_ns);
  gauges.put("cpu_user_total", "ns", tree.user_ns);
  gauges.put("cpu_system_total", "ns", tree.system_ns);
  gauges.put("rss", "bytes", tree.rss_bytes);
  gauges.put("pss", "bytes", tree.pss_bytes);
  gauges.put("processes", "count", processes);
  gauges.put("threads", "count", tree.threads);
  gauges.put("fds", "count", tree.fds);
  gauges.put("minor_faults_total", "count", tree.minor_faults);
  gauges.put("major_faults_total", "count", tree.major_faults);
  write_io(gauges, tree);
}

TreeFigures TreePoll::io_of_container(int64_t pid) const {
  const auto found = containers_.find(pid);
  return found == containers_.end() ? TreeFigures() : found->second.figures;
}

void TreePoll::sum_containers() {
  std::map<int64_t, TreeFigures> sums;
  for (const auto& [pid, seen] : seen_)
    if (seen.container != 0 && seen.alive) add_bytes(sums[seen.container], seen.last, 1);
  for (auto& [pid, sum] : sums) (void)containers_[pid];
  for (auto& [pid, container] : containers_) {
    TreeFigures& sum = sums[pid];
    add_bytes(sum, container.departed, 1);
    add_bytes(sum, container.before, -1);
    raise_bytes(container.figures, sum);
  }
}

const TreeFigures& TreePoll::look(ProcessTable& table, bool thorough, bool last) {
  ++looks_;
  if (thorough) ++thorough_looks_;
  last_ = last;
  TreeFigures sum = departed_;
  sum.rss_bytes = 0;
  add_sums(sum, before_, -1);
  for (auto& [pid, seen] : seen_) seen.alive = false;
  const int64_t now_ns = monotonic_ns();
  const bool want_pss = wants_.pss && thorough && now_ns >= pss_not_before_ns_;
  if (want_pss) sum.pss_bytes = 0;
  for (const int64_t pid : table.live()) look_at(pid, table, thorough, sum);
  look_at_zombies(table, sum);
  const int64_t factor = wants_.many ? kPssCostFactorOfMany : kPssCostFactor;
  if (want_pss) pss_not_before_ns_ = now_ns + (monotonic_ns() - now_ns) * factor;
  sum_containers();
  forget_the_dead();
  raise(sum);
  cpu_time_ns_ = now_ns + (monotonic_ns() - now_ns) / 2;
  return figures_;
}

// Files of up to kMaxOpen processes stay open; of more, they are opened for each look.
TreePoll::Seen& TreePoll::seen(int64_t pid, const std::string& folder) {
  const auto [entry, added] = seen_.try_emplace(pid);
  if (added && seen_.size() <= kMaxOpen) {
    entry->second.stat_file = RereadFile(folder + "/stat");
    entry->second.io_file = RereadFile(folder + "/io");
    entry->second.ran_file = RereadFile(folder + "/schedstat");
    entry->second.status_file = RereadFile(folder + "/status");
    if (auto fds = open_file(folder + "/fd", O_PATH | O_DIRECTORY); fds.ok())
      entry->second.fds_folder = std::move(fds).value();
  }
  return entry->second;
}

bool TreePoll::row_is_due(int64_t pid) const {
  return last_ || (thorough_looks_ + pid) % kWholeEvery == 0;
}

// Whether a process of one thread has not run since it was last looked at as a whole: nothing of it
// has changed. Most of what is on a machine sleeps most of the time; those that run whenever they
// are asked are asked less often.
bool TreePoll::has_slept(int64_t pid, Seen& seen, bool thorough) {
  if (!seen.ran_file.valid()) return false;
  const bool whole = (looks_ + pid) % kWholeEvery == 0 || (thorough && row_is_due(pid));
  if (!whole && seen.awake > kAwake && seen.awake++ % kAwakeEvery != 0) return false;
  const auto schedule = parse_proc_schedstat(seen.ran_file.read());
  const int64_t ran = schedule.ok() ? schedule.value().run_ns : -1;
  seen.waited = schedule.ok() ? Maybe(schedule.value().wait_ns) : std::nullopt;
  const bool same = ran >= 0 && ran == seen.ran && seen.last.threads == 1;
  seen.ran = ran;
  seen.awake = same ? 0 : seen.awake + 1;
  return same && (!thorough || seen.thorough) && !whole;
}

void TreePoll::look_at(int64_t pid, ProcessTable& table, bool thorough, TreeFigures& sum) {
  const std::string folder = proc_folder(pid);
  Seen& seen = this->seen(pid, folder);
  seen.container = table.container_pid(pid);
  if (has_slept(pid, seen, thorough)) {
    seen.alive = true;
    add_levels(sum, seen.last);
    add_sums(sum, seen.last, 1);
    return;
  }
  const auto stat = stat_of(seen.stat_file, folder);
  seen.alive = true;
  if (!stat.ok()) {
    if (++seen.misses >= kMostMisses) table.vanished(pid, monotonic_ns());
    return;
  }
  seen.misses = 0;
  const ProcStat& now = stat.value();
  seen.ppid = now.ppid;
  const Maybe pss = seen.last.pss_bytes;
  seen.last = {};
  seen.last.rss_bytes = now.rss_bytes;
  seen.last.threads = now.threads;
  if (sum.pss_bytes) seen.last.pss_bytes = 0;
  add_stat(seen.last, pid, now);
  TaskUsage look;
  look.user_ns = now.user_ns;
  look.system_ns = now.system_ns;
  look.minor_faults = now.minor_faults;
  look.major_faults = now.major_faults;
  look.peak_rss_bytes = look.rss_bytes = now.rss_bytes;
  const auto io = io_of(seen.io_file, folder);
  seen.io_hidden = !io.ok();
  if (io.ok()) {
    add_io(seen.last, io.value());
    look.read_chars = io.value().read_chars;
    look.written_chars = io.value().written_chars;
    look.disk_read_bytes = io.value().disk_read_bytes;
    look.disk_written_bytes = io.value().disk_written_bytes;
  }
  seen.thorough = thorough || wants_.peaks;
  if (seen.thorough) look_thoroughly(pid, folder, seen, look);
  if (!seen.last.pss_bytes) seen.last.pss_bytes = pss;
  add_levels(sum, seen.last);
  add_sums(sum, seen.last, 1);
  table.polled(pid, look, thorough);
}

// What a process used that has ended is its parent's once that has waited for it. Looked at after
// the parents: what one takes over meanwhile is missing until the next look, and never there twice.
void TreePoll::look_at_zombies(const ProcessTable& table, TreeFigures& sum) {
  for (const int64_t pid : table.just_ended(kWorthLookingNs))
    seen(pid, proc_folder(pid)).container = table.container_pid(pid);
  for (auto& [pid, seen] : seen_) {
    if (seen.alive) continue;
    const std::string folder = proc_folder(pid);
    const auto stat = stat_of(seen.stat_file, folder);
    if (!stat.ok() || stat.value().state != 'Z') continue;
    seen.alive = true;
    seen.ppid = stat.value().ppid;
    TreeFigures used;
    add_stat(used, pid, stat.value());
    if (const auto io = io_of(seen.io_file, folder); io.ok()) add_io(used, io.value());
    seen.last = used;
    add_sums(sum, used, 1);
  }
}

void TreePoll::look_thoroughly(int64_t pid, const std::string& folder, Seen& seen,
                               TaskUsage& look) const {
  if (wants_.peaks || !seen.has_row || row_is_due(pid)) look_for_row(folder, seen, look);
  TreeFigures& figures = seen.last;
  const Maybe fds = seen.fds_folder.valid() ? count_fds(seen.fds_folder.get()) : std::nullopt;
  if (const auto counted = fds ? Result<int64_t>(*fds) : count_fds(folder); counted.ok())
    add_to(figures.fds, counted.value());
  if (!figures.pss_bytes) return;
  if (const auto memory = read_proc_smaps_rollup(folder); memory.ok())
    add_to(figures.pss_bytes, memory.value().pss_bytes);
}

void TreePoll::look_for_row(const std::string& folder, Seen& seen, TaskUsage& look) {
  const auto status = seen.status_file.valid()
                          ? Result<ProcStatus>(parse_proc_status(seen.status_file.read()))
                          : read_proc_status(folder);
  if (status.ok()) {
    if (status.value().peak_rss_bytes) look.peak_rss_bytes = status.value().peak_rss_bytes;
    look.voluntary_switches = status.value().voluntary_switches;
    look.involuntary_switches = status.value().involuntary_switches;
  }
  look.wait_ns = seen.last.threads == 1 && seen.waited ? seen.waited : waiting_ns(folder);
  seen.has_row = true;
}

// What a process has used goes to the parent that waits for it. If that is a stranger, and nobody
// here reaps in its place, it would be lost.
void TreePoll::forget_the_dead() {
  for (const auto& [pid, seen] : seen_) {
    const auto parent = seen_.find(seen.ppid);
    const bool inherited = parent != seen_.end() && parent->second.alive;
    if (seen.alive) continue;
    if (!inherited && !wants_.orphans) add_sums(departed_, seen.last, 1);
    if (inherited && parent->second.io_hidden) add_bytes(departed_, seen.last, 1);
    const bool adds_io = inherited ? parent->second.io_hidden : !wants_.orphans;
    if (adds_io && seen.container != 0)
      add_bytes(containers_[seen.container].departed, seen.last, 1);
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
  fathom::raise(figures_.cpu_ns, sum.cpu_ns);
  figures_.voluntary_switches = sum.voluntary_switches;
  figures_.involuntary_switches = sum.involuntary_switches;
  figures_.largest_rss_bytes = sum.largest_rss_bytes;
  fathom::raise(figures_.minor_faults, sum.minor_faults);
  fathom::raise(figures_.major_faults, sum.major_faults);
  raise_bytes(figures_, sum);
}

const TreeFigures& TreePoll::reported(const TaskUsage& usage) {
  raise_bytes(figures_, io_of(usage));
  return figures_;
}

void TreePoll::departed(const Departure& departure) {
  if (!departure.has_figures) return;  // those of the last look stay
  departed_.user_ns += departure.user_ns;
  departed_.system_ns += departure.system_ns;
  departed_.cpu_ns += departure.user_ns + departure.system_ns;
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
