// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/process_table.h"

#include <sys/wait.h>

#include <algorithm>

#include "base/clock.h"
#include "base/text.h"
#include "probe/resources/mpi_rank.h"
#include "record/merge.h"

namespace fathom {
namespace {

void add_to(Maybe& sum, const Maybe& more) {
  if (more) sum = sum.value_or(0) + *more;
}

void raise_to(Maybe& peak, const Maybe& more) {
  if (more) peak = std::max(peak.value_or(0), *more);
}

Maybe first_of(const Maybe& better, const Maybe& other) { return better ? better : other; }

// An exact sum is split as the last look saw its parts; what was never looked at has no parts.
void split_cpu(const TaskUsage& told, const TaskUsage& look, Process& row) {
  row.user_ns = first_of(told.user_ns, look.user_ns);
  row.system_ns = first_of(told.system_ns, look.system_ns);
  row.cpu_ns = told.cpu_ns;
  if (!row.cpu_ns && row.user_ns) row.cpu_ns = *row.user_ns + row.system_ns.value_or(0);
  if (told.user_ns || !told.cpu_ns) return;
  const int64_t user = look.user_ns.value_or(0);
  const int64_t system = look.system_ns.value_or(0);
  if (user + system == 0) {
    row.user_ns.reset();
    row.system_ns.reset();
    return;
  }
  row.user_ns = static_cast<int64_t>(static_cast<double>(*told.cpu_ns) * static_cast<double>(user) /
                                     static_cast<double>(user + system));
  row.system_ns = *told.cpu_ns - *row.user_ns;
}

void set_exit(Process& row, int wait_status) {
  if (WIFEXITED(wait_status)) row.exit_status = WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) row.exit_signal = WTERMSIG(wait_status);
}

}  // namespace

std::string quoted_arguments(std::string_view separated_by_nul) {
  std::vector<std::string> words;
  while (!separated_by_nul.empty()) {
    const size_t end = separated_by_nul.find('\0');
    words.emplace_back(separated_by_nul.substr(0, end));
    if (end == std::string_view::npos) break;
    separated_by_nul.remove_prefix(end + 1);
  }
  return shell_quote(words);
}

void add_usage(TaskUsage& sum, const TaskUsage& more) {
  add_to(sum.user_ns, more.user_ns);
  add_to(sum.system_ns, more.system_ns);
  add_to(sum.cpu_ns, more.cpu_ns);
  add_to(sum.wait_ns, more.wait_ns);
  raise_to(sum.peak_rss_bytes, more.peak_rss_bytes);
  add_to(sum.minor_faults, more.minor_faults);
  add_to(sum.major_faults, more.major_faults);
  add_to(sum.read_chars, more.read_chars);
  add_to(sum.written_chars, more.written_chars);
  add_to(sum.disk_read_bytes, more.disk_read_bytes);
  add_to(sum.disk_written_bytes, more.disk_written_bytes);
  add_to(sum.voluntary_switches, more.voluntary_switches);
  add_to(sum.involuntary_switches, more.involuntary_switches);
}

ProcessTable::ProcessTable(RecordStream& out, int64_t root_pid, Maybe start_ns,
                           std::map<int64_t, std::string> containers)
    : out_(out), root_pid_(root_pid), containers_(std::move(containers)) {
  out_.keep_ids([this](const Dictionary& from, Interner& to) { carry_over_ids(from, to); });
  if (start_ns) add(root_pid, std::nullopt, *start_ns, StringId::kNone);
}

void ProcessTable::carry_over_ids(const Dictionary& from, Interner& to) {
  for (auto& [pid, entry] : entries_) {
    carry_over(entry.row, from, to);
    for (auto& [tid, thread] : entry.live_threads) carry_over(thread.row, from, to);
  }
  for (Thread& thread : changed_threads_) carry_over(thread, from, to);
}

void ProcessTable::begin_root(int64_t now_ns, std::string_view name) {
  Entry* root = find(root_pid_);
  if (root == nullptr) return;
  root->row.start_ns = now_ns;
  if (!name.empty()) root->row.name = out_.string(name);
  own_root_ = !name.empty();
  for (auto& [tid, thread] : root->live_threads) {
    thread.row.start_ns = now_ns;
    thread.row.name = root->row.name;
    touch(thread);
  }
  touch(*root);
}

ProcessTable::Entry* ProcessTable::find(int64_t pid) {
  const auto found = entries_.find(pid);
  return found == entries_.end() ? nullptr : &found->second;
}

const ProcessTable::Entry* ProcessTable::find(int64_t pid) const {
  const auto found = entries_.find(pid);
  return found == entries_.end() ? nullptr : &found->second;
}

void ProcessTable::touch(Entry& entry) {
  if (!entry.changed) changed_.push_back(entry.row.pid);
  entry.changed = true;
}

void ProcessTable::touch(LiveThread& thread) {
  if (thread.round == round_) {
    changed_threads_[thread.at] = thread.row;
    return;
  }
  thread.round = round_;
  thread.at = changed_threads_.size();
  changed_threads_.push_back(thread.row);
}

ProcessTable::Entry& ProcessTable::add(int64_t pid, Maybe ppid, int64_t time_ns, StringId name) {
  if (const auto before = entries_.find(pid); before != entries_.end()) {  // the pid was reused
    if (before->second.alive) end(before->second, time_ns);
    close(before);
  }
  const StringId container = container_of(pid, ppid);
  const int64_t container_pid =
      containers_.contains(pid) ? pid : this->container_pid(ppid.value_or(0));
  Entry& entry = entries_[pid];
  entry.container_pid = container_pid;
  entry.row.pid = pid;
  entry.row.container = container;
  entry.row.ppid = ppid;
  entry.row.name = name;
  entry.row.start_ns = time_ns;
  ++live_count_;
  ++process_count_;
  touch(entry);
  add_thread(entry, pid, time_ns, name);
  return entry;
}

int64_t ProcessTable::container_pid(int64_t pid) const {
  const Entry* entry = find(pid);
  return entry == nullptr ? 0 : entry->container_pid;
}

StringId ProcessTable::container_of(int64_t pid, Maybe ppid) {
  if (containers_.empty()) return StringId::kNone;
  if (const auto own = containers_.find(pid); own != containers_.end())
    return out_.string(own->second);
  if (const Entry* parent = ppid ? find(*ppid) : nullptr; parent != nullptr)
    return parent->row.container;
  const auto others = containers_.find(0);
  return others == containers_.end() ? StringId::kNone : out_.string(others->second);
}

void ProcessTable::add_thread(Entry& entry, int64_t tid, int64_t time_ns, StringId name) {
  Thread thread;
  thread.pid = entry.row.pid;
  thread.tid = tid;
  thread.name = name;
  thread.start_ns = time_ns;
  const auto [live, added] = entry.live_threads.emplace(tid, LiveThread{thread});
  if (!added) return;
  touch(live->second);
  ++thread_count_;
}

void ProcessTable::on_task(const TaskEvent& event) {
  if (event.kind == TaskEvent::Kind::kFork) return on_fork(event);
  Entry* entry = find(event.pid);
  if (entry == nullptr) return;
  if (event.kind == TaskEvent::Kind::kExec) on_exec(*entry, event);
  if (event.kind == TaskEvent::Kind::kRename) on_rename(*entry, event);
  if (event.kind == TaskEvent::Kind::kExit) on_exit(*entry, event);
}

void ProcessTable::on_fork(const TaskEvent& event) {
  StringId name = out_.string(event.name);
  if (event.pid != event.tid) {
    if (Entry* entry = find(event.pid); entry != nullptr) {
      add_thread(*entry, event.tid, event.time_ns,
                 name == StringId::kNone ? entry->row.name : name);
    }
    return;
  }
  // Adopted after its fork was told to the source, and so known already.
  if (const Entry* known = find(event.pid);
      known != nullptr && known->adopted && event.time_ns <= known->adopted->time_ns) {
    return;
  }
  Maybe rank;
  if (Entry* parent = find(event.ppid); parent != nullptr) {
    parent->has_children = true;
    rank = parent->row.mpi_rank;
    if (name == StringId::kNone) name = parent->row.name;
  }
  add(event.pid, event.ppid, event.time_ns, name).row.mpi_rank = rank;
}

void ProcessTable::on_exec(Entry& entry, const TaskEvent& event) {
  if (entry.row.pid == root_pid_) own_root_ = false;
  if (!event.name.empty()) entry.row.name = out_.string(event.name);
  entry.starts_ranks = starts_ranks(event.name);
  if (!event.exe.empty()) entry.row.exe = out_.string(event.exe);
  if (!event.args.empty()) entry.row.args = out_.string(quoted_arguments(event.args));
  if (may_be_rank(entry)) entry.row.mpi_rank = mpi_rank_of(entry.row.pid);
  if (const auto main = entry.live_threads.find(entry.row.pid); main != entry.live_threads.end()) {
    main->second.row.name = entry.row.name;
    touch(main->second);
  }
  touch(entry);
}

// Others have the rank of their parent; their environment need not be read.
bool ProcessTable::may_be_rank(const Entry& entry) {
  if (entry.row.pid == root_pid_) return true;
  const Entry* parent = entry.row.ppid ? find(*entry.row.ppid) : nullptr;
  return parent != nullptr && parent->starts_ranks;
}

void ProcessTable::on_rename(Entry& entry, const TaskEvent& event) {
  const StringId name = out_.string(event.name);
  if (event.tid == entry.row.pid) entry.row.name = name;
  if (const auto thread = entry.live_threads.find(event.tid); thread != entry.live_threads.end()) {
    thread->second.row.name = name;
    touch(thread->second);
  }
  touch(entry);
}

void ProcessTable::on_exit(Entry& entry, const TaskEvent& event) {
  const auto thread = entry.live_threads.find(event.tid);
  if (thread == entry.live_threads.end()) return;
  Thread& row = thread->second.row;
  row.end_ns = event.time_ns;
  if (event.usage != nullptr) {
    const TaskUsage used = period_usage(entry, event.tid, *event.usage);
    row.user_ns = used.user_ns;
    row.system_ns = used.system_ns;
    row.cpu_ns = used.cpu_ns;
    if (!row.cpu_ns && row.user_ns) row.cpu_ns = *row.user_ns + row.system_ns.value_or(0);
    add_usage(entry.ended, used);
    entry.told_at_exit = entry.told_at_exit || used.written_chars.has_value();
  }
  touch(thread->second);
  entry.live_threads.erase(thread);
  if (event.exit_code && (event.tid == entry.row.pid || !entry.row.exit_status)) {
    set_exit(entry.row, static_cast<int>(*event.exit_code));
  }
  if (entry.live_threads.empty()) {
    end(entry, event.time_ns);
  } else if (event.ends_process) {
    ending_.emplace_back(entry.row.pid,
                         event.time_ns);  // the exits of its other threads are under way
  }
}

void ProcessTable::end(Entry& entry, int64_t time_ns) {
  for (auto& [tid, thread] : entry.live_threads) {
    thread.row.end_ns = time_ns;
    touch(thread);
  }
  entry.live_threads.clear();
  entry.row.end_ns = time_ns;
  entry.alive = false;
  touch(entry);
  ended_.push_back(entry.row.pid);
  --live_count_;
}

void ProcessTable::polled(int64_t pid, const TaskUsage& look, bool journal) {
  Entry* entry = find(pid);
  if (entry == nullptr || !entry->alive) return;
  const TaskUsage before = entry->last_look;
  entry->last_look = look;
  raise_to(entry->last_look.peak_rss_bytes, before.peak_rss_bytes);
  if (entry->adopted) raise_to(entry->adopted->seen_rss_bytes, look.rss_bytes);
  if (!look.wait_ns) entry->last_look.wait_ns = before.wait_ns;
  if (!look.voluntary_switches) entry->last_look.voluntary_switches = before.voluntary_switches;
  if (!look.involuntary_switches)
    entry->last_look.involuntary_switches = before.involuntary_switches;
  if (journal) touch(*entry);
}

void ProcessTable::vanished(int64_t pid, int64_t time_ns) {
  Entry* entry = find(pid);
  if (entry != nullptr && entry->alive) end(*entry, time_ns);
}

void ProcessTable::departed(const Departure& departure) {
  Entry* entry = find(departure.pid);
  if (entry == nullptr) return;
  set_exit(entry->row, departure.status);
  if (entry->alive) end(*entry, departure.time_ns);
  touch(*entry);
  if (entry->has_children || !departure.has_figures) return;  // not its own alone, or none
  TaskUsage& look = entry->last_look;
  look.user_ns = departure.user_ns;
  look.system_ns = departure.system_ns;
  look.peak_rss_bytes = departure.max_rss_bytes;
  look.minor_faults = departure.minor_faults;
  look.major_faults = departure.major_faults;
  look.voluntary_switches = departure.voluntary_switches;
  look.involuntary_switches = departure.involuntary_switches;
  if (departure.io) {
    look.read_chars = departure.io->read_chars;
    look.written_chars = departure.io->written_chars;
    look.disk_read_bytes = departure.io->disk_read_bytes;
    look.disk_written_bytes = departure.io->disk_written_bytes;
  }
  if (!entry->told_at_exit) entry->row.accounting = out_.string("wait");
}

// Figures told at exit are best; what they lack comes from the last look. For a live process, and
// for one that only told its CPU time, the last look is all there is.
void ProcessTable::fill(Entry& entry) {
  Process& row = entry.row;
  const TaskUsage none;
  const bool final = !entry.alive || entry.settled;
  const TaskUsage& told = final ? entry.ended : none;
  const TaskUsage look = period_look(entry);
  split_cpu(told, look, row);
  row.wait_ns = first_of(told.wait_ns, look.wait_ns);
  row.peak_rss_bytes = period_peak(entry, told);
  row.minor_faults = first_of(told.minor_faults, look.minor_faults);
  row.major_faults = first_of(told.major_faults, look.major_faults);
  // The I/O of a look includes children that were waited for: of a parent it says nothing.
  const TaskUsage& io = entry.told_at_exit && final ? told : entry.has_children ? none : look;
  row.read_chars = io.read_chars;
  row.written_chars = io.written_chars;
  row.disk_read_bytes = io.disk_read_bytes;
  row.disk_written_bytes = io.disk_written_bytes;
  row.voluntary_switches = first_of(told.voluntary_switches, look.voluntary_switches);
  row.involuntary_switches = first_of(told.involuntary_switches, look.involuntary_switches);
  if (entry.told_at_exit && !entry.alive) {
    row.accounting = out_.string("exit");
  } else if (row.accounting == StringId::kNone) {
    row.accounting = out_.string("polled");
  }
}

// The exits of its other threads may take a while to be told on a busy machine; they have figures.
void ProcessTable::end_overdue() {
  const int64_t overdue_ns = monotonic_ns() - kNsPerSecond;
  for (const auto& [pid, time_ns] : std::exchange(ending_before_, std::exchange(ending_, {}))) {
    Entry* entry = find(pid);
    if (entry == nullptr || !entry->alive || entry->row.start_ns > time_ns) continue;
    if (time_ns > overdue_ns)
      ending_.emplace_back(pid, time_ns);
    else
      end(*entry, time_ns);
  }
}

void ProcessTable::write_changes() {
  end_overdue();
  for (const Thread& thread : changed_threads_)
    if (is_listed(thread.pid)) out_.add(thread);
  changed_threads_.clear();
  ++round_;
  for (const int64_t pid : std::exchange(changed_, {})) {
    Entry* entry = find(pid);
    if (entry == nullptr || !entry->changed) continue;
    entry->changed = false;
    if (!is_listed(pid)) continue;
    fill(*entry);
    out_.add(entry->row);
  }
  for (const int64_t pid : std::exchange(ended_before_, std::exchange(ended_, {}))) {
    const auto ended = entries_.find(pid);
    if (ended != entries_.end() && !ended->second.alive && pid != root_pid_) close(ended);
  }
}

namespace {
TaskUsage usage_of(const Process& row) {
  TaskUsage usage;
  usage.user_ns = row.user_ns;
  usage.system_ns = row.system_ns;
  usage.cpu_ns = row.cpu_ns;
  usage.wait_ns = row.wait_ns;
  usage.peak_rss_bytes = row.peak_rss_bytes;
  usage.minor_faults = row.minor_faults;
  usage.major_faults = row.major_faults;
  usage.read_chars = row.read_chars;
  usage.written_chars = row.written_chars;
  usage.disk_read_bytes = row.disk_read_bytes;
  usage.disk_written_bytes = row.disk_written_bytes;
  usage.voluntary_switches = row.voluntary_switches;
  usage.involuntary_switches = row.involuntary_switches;
  return usage;
}
}  // namespace

void ProcessTable::close(std::unordered_map<int64_t, Entry>::iterator ended) {
  Entry& entry = ended->second;
  if (entry.changed) {
    fill(entry);
    out_.add(entry.row);
  }
  add_usage(closed_sum_, usage_of(entry.row));
  if (entry.container_pid != 0) add_usage(closed_of_[entry.container_pid], usage_of(entry.row));
  exact_ = exact_ && entry.told_at_exit;
  entries_.erase(ended);
}

std::vector<int64_t> ProcessTable::just_ended(int64_t least_cpu_ns) const {
  std::vector<int64_t> pids;
  for (const int64_t pid : ended_) {
    const auto entry = entries_.find(pid);
    if (entry == entries_.end() || entry->second.alive) continue;
    const TaskUsage& used = entry->second.ended;
    const int64_t ticks_ns = used.user_ns.value_or(0) + used.system_ns.value_or(0);
    if (used.cpu_ns.value_or(ticks_ns) >= least_cpu_ns) pids.push_back(pid);
  }
  return pids;
}

std::vector<int64_t> ProcessTable::live() const {
  std::vector<int64_t> pids;
  for (const auto& [pid, entry] : entries_) {
    if (entry.alive) pids.push_back(pid);
  }
  return pids;
}

TaskUsage ProcessTable::sum_of_container(int64_t pid) {
  TaskUsage sum = closed_of_[pid];
  for (auto& [each, entry] : entries_) {
    if (entry.container_pid != pid) continue;
    fill(entry);
    add_usage(sum, usage_of(entry.row));
  }
  return sum;
}

TaskUsage ProcessTable::sum() {
  TaskUsage sum = closed_sum_;
  for (auto& [pid, entry] : entries_) {
    if (!is_listed(pid)) continue;
    fill(entry);
    exact_ = exact_ && (entry.alive || entry.told_at_exit);
    add_usage(sum, usage_of(entry.row));
  }
  return sum;
}

}  // namespace fathom
