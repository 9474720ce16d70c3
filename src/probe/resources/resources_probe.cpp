// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/resources_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/file_limit.h"
#include "base/proc_system.h"
#include "base/text.h"
#include "probe/resources/cgroup_reader.h"
#include "probe/resources/container_figures.h"
#include "probe/resources/core_reader.h"
#include "probe/resources/cpu_split.h"
#include "probe/resources/gauge_writer.h"
#include "probe/resources/hidden_io.h"
#include "probe/resources/host_reader.h"
#include "probe/resources/namespace_listener.h"
#include "probe/resources/process_table.h"
#include "probe/resources/running.h"
#include "probe/resources/task_source.h"
#include "probe/resources/tree_poll.h"

namespace fathom {
namespace {

constexpr int64_t kSlowEvery = kNsPerSecond;  // cgroup, host and the costlier figures of the tree
constexpr int kExitPatience = 1000;           // ms to wait for the last exit to be told
constexpr int64_t kCostFactor = 50;           // looking takes at most a 50th of the time

class ResourcesProbe final : public Probe {
 public:
  explicit ResourcesProbe(const ProbeSettings& settings) : settings_(settings) {}

  Status prepare(LaunchRequest& request) override {
    request.cgroup_figures = true;
    return {};
  }

  void load() override { loaded_ = load_tasks_by_bpf(); }

  Status start(const Target& target, RecordStream& out) override {
    target_ = &target;
    out_ = &out;
    scope_ = target.scope();
    attach_ns_ = monotonic_ns();
    TRY(watch_tree());
    told_at_exit_ = std::string_view(source_->name()) == "bpf";
    poll_ = std::make_unique<TreePoll>(TreePollWants{
        .peaks = !told_at_exit_,
        .pss = scope_.kind != Scope::Kind::kSystem,
        .many = target.parts().size() > 1,
        .orphans = !scope_.attached && scope_.reaped,
    });
    if (target.cgroup() != nullptr) cgroup_reader_.emplace(*target.cgroup());
    if (!scope_.reaped || target.parts().size() == 1) cores_.emplace(target.cgroup());
    const std::vector<TargetPart> parts = target.parts();
    watch_containers(parts);
    table_ = std::make_unique<ProcessTable>(
        out, target.pid(), is_taken_in() ? std::nullopt : Maybe(monotonic_ns()), names_of(parts));
    if (is_taken_in()) take_in();
    if (!scope_.reaped) target.inner_ids().learn_by([this] { drain(); });
    return {};
  }

  void begin(int64_t now_ns) override {
    if (cgroup_reader_) cgroup_reader_->begin();
    for (ContainerFigures& container : containers_) container.begin();
    if (cgroup_reader_) cgroup_before_ = cgroup_reader_->read();
    if (const auto host = read_system_stat(); host.ok()) host_before_ = host.value();
    // A container's first process was the runtime's before.
    if (scope_.attached || !scope_.reaped) leave_out_the_start();
    if (!is_taken_in()) table_->begin_root(now_ns, scope_.reaped ? "" : name_of_first());
    look(now_ns, true);
    next_look_ns_ = now_ns + settings_.interval_ns;
    next_slow_ns_ = now_ns + kSlowEvery;
  }

  void tick(int64_t now_ns) override {
    // The session may tick more often than looks are wanted, and a look may have been too costly.
    if (now_ns + settings_.interval_ns / 4 < next_look_ns_) {
      // Looking at every process of the host is what was too costly.
      const bool looks = scope_.kind == Scope::Kind::kSystem && !told_at_exit_;
      if (!looks) drain();
      return;
    }
    const int64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const bool slow = now_ns >= next_slow_ns_;
    if (slow) next_slow_ns_ = now_ns + kSlowEvery;
    look(now_ns, slow);
    const int64_t cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
    const int64_t wait_ns = std::max(settings_.interval_ns, cost_ns * kCostFactor);
    left_out_ += wait_ns / settings_.interval_ns - 1;
    next_look_ns_ = now_ns + wait_ns;
  }

  void step_began(int64_t now_ns) override {
    look(now_ns, true);
    if (cgroup_reader_) cgroup_reader_->begin_step();
    step_cgroup_ = cgroup_;
    step_tree_ = poll_->figures();
  }

  void step_ended(int64_t now_ns, Step& row) override {
    look(now_ns, true);
    const auto grown = [](const Maybe& from, const Maybe& to) {
      return from && to ? Maybe(*to - *from) : std::nullopt;
    };
    const TreeFigures& tree = poll_->figures();
    row.user_ns = cgroup_.user_ns ? grown(step_cgroup_.user_ns, cgroup_.user_ns)
                                  : Maybe(tree.user_ns - step_tree_.user_ns);
    row.system_ns = cgroup_.user_ns ? grown(step_cgroup_.system_ns, cgroup_.system_ns)
                                    : Maybe(tree.system_ns - step_tree_.system_ns);
    row.throttled_ns = grown(step_cgroup_.throttled_ns, cgroup_.throttled_ns);
    if (cgroup_reader_) row.peak_bytes = cgroup_reader_->step_peak();
    row.read_chars = grown(step_tree_.read_chars, tree.read_chars);
    row.written_chars = grown(step_tree_.written_chars, tree.written_chars);
    row.disk_read_bytes = grown(step_tree_.disk_read_bytes, tree.disk_read_bytes);
    row.disk_written_bytes = grown(step_tree_.disk_written_bytes, tree.disk_written_bytes);
  }

  void departed(const Departure& departure) override {
    if (cgroup_reader_ && departure.is_main) cgroup_reader_->note_end();
    for (ContainerFigures& container : containers_) container.note_end(departure.pid);
    drain();
    poll_->departed(departure);
    table_->departed(departure);
  }

  // What tells of the whole period is read first, before looking takes its time.
  void finish(int64_t now_ns) override {
    if (const auto host = read_system_stat(); host.ok()) host_ = host.value();
    std::vector<RunningProcess> last;
    if (scope_.attached && told_at_exit_) last = running_now();
    look(now_ns, true, true);
    drain();  // a source may hold an exit back for one drain
    if (told_at_exit_) await_exits();
    for (const RunningProcess& process : last) table_->settle(process);
    table_->write_changes();
    write_reported_io();
    target_->inner_ids().learn_by(nullptr);
  }

  [[nodiscard]] std::vector<int> bpf_programs() const override { return source_->bpf_programs(); }

  [[nodiscard]] ProbeReport report() const override {
    ProbeReport report;
    report.rung = std::string("tree: ") + source_->name() + ", cgroup: " +
                  (target_->cgroup() == nullptr ? "none"
                   : scope_.attached            ? "attached"
                                                : "own") +
                  ", host: proc";
    report.settings = "interval " + format_duration_ns(settings_.interval_ns);
    if (scope_.attached) report.settings += ", figures since it was attached to";
    if (left_out_ > 0) {
      report.settings += fmt::format(", {} of {} looks left out to take less than a {}th of a core",
                                     left_out_, left_out_ + looks_, kCostFactor);
    }
    report.seen = source_->seen() + looks_;
    report.dropped = source_->dropped();
    report.why = why_;
    if (report.dropped > 0) {
      report.why += (why_.empty() ? "" : "; ") + format_count(report.dropped) +
                    " events of the tree were lost: its buffer was full";
    }
    if (hidden_.any())
      report.why += (report.why.empty() ? "" : "; ") + hidden_.text(table_->process_count());
    if (left_out_ * 10 > looks_) {
      report.why += (report.why.empty() ? "" : "; ") + format_count(left_out_) +
                    " looks were left out to stay below 2 % of a core";
    }
    report.buffer_bytes = source_->buffer_bytes();
    return report;
  }

  void total(Run& run) const override;
  void total_cpu(Run& run, const TaskUsage& told, bool exact) const;

  void live(LiveFigures& figures) const override {
    figures.cpu_cores = cpu_cores_;
    figures.memory_bytes = static_cast<double>(poll_->figures().rss_bytes);
    figures.peak_memory_bytes = static_cast<double>(peak_rss_bytes_);
    figures.read_bytes_per_s = read_per_s_;
    figures.written_bytes_per_s = written_per_s_;
    figures.processes = table_->live_count();
  }

 private:
  // Several containers have figures each; one has those of the whole.
  void watch_containers(const std::vector<TargetPart>& parts) {
    if (parts.size() > 1) raise_file_limit();  // a score of files each
    for (const TargetPart& part : parts) {
      network_.watch(part.pid);
      if (parts.size() > 1) containers_.emplace_back(part);
    }
  }

  // Whoever is there is looked for: it ran before, or begins in several places.
  [[nodiscard]] bool is_taken_in() const { return scope_.attached || scope_.roots.size() > 1; }

  // Whoever starts a container's steps never executes a program.
  [[nodiscard]] std::string name_of_first() const {
    return read_proc_name(proc_folder(target_->pid())).value_or("");
  }

  static std::map<int64_t, std::string> names_of(const std::vector<TargetPart>& parts) {
    std::map<int64_t, std::string> names;
    for (const TargetPart& part : parts) names[part.pid] = part.name;
    if (parts.size() == 1) names[0] = parts[0].name;
    return names;
  }

  // The best rung that works; what the better ones lack is kept for the report.
  Status watch_tree() {
    struct RungTry {
      const char* name;
      Result<std::unique_ptr<TaskSource>> (*watch)(int64_t root);
      const char* loss;
    };
    static constexpr std::array kLadder = {
        RungTry{"bpf", watch_tasks_by_bpf,
                "figures of a process that ends are those of the last look or of its parent"},
        RungTry{"perf", watch_tasks_by_perf,
                "children that live shorter than a look are not listed"},
        RungTry{"proc", watch_tasks_by_proc, ""},
    };
    int64_t root = target_->pid();
    if (is_taken_in()) root = scope_.kind == Scope::Kind::kSystem ? kEverybody : kNobody;
    for (const RungTry& rung : kLadder) {
      auto source =
          loaded_ && rung.watch == watch_tasks_by_bpf ? follow_loaded(root) : rung.watch(root);
      if (source.ok() && root == kNobody) {
        if (auto adopted = adopt_all(*source.value()); !adopted.ok()) source = adopted.error();
      }
      if (source.ok()) {
        source_ = std::move(source).value();
        return {};
      }
      if (!why_.empty()) why_ += "; ";
      why_ += std::string(rung.loss) + " (" + rung.name + ": " + source.error().message + ")";
    }
    return Error{Code::kUnsupported, "the process tree cannot be watched: " + why_};
  }

  Result<std::unique_ptr<TaskSource>> follow_loaded(int64_t root) {
    auto source = std::move(*loaded_);
    loaded_.reset();
    if (source.ok()) TRY(source.value()->follow(root));
    return source;
  }

  Status adopt_all(TaskSource& source) const {
    for (const int64_t pid : processes_in(*target_)) TRY(source.adopt(pid));
    return {};
  }

  // Whoever belongs to the target and is not known yet, until nobody new is found: from then on the
  // source tells of those they start.
  void take_in() {
    for (bool found = true; found;) {
      found = false;
      for (const int64_t pid : processes_in(*target_)) {
        if (table_->knows(pid)) continue;
        (void)source_->adopt(pid);
        const auto running = read_running(pid);
        if (!running) continue;
        if (!running->used.read_chars && is_running(pid)) hidden_.add(running->name, pid);
        table_->adopt(*running, attach_ns_);
        if (running->start_ns < attach_ns_) poll_->adopt(pid, table_->container_pid(pid));
        found = true;
      }
    }
  }

  [[nodiscard]] std::vector<RunningProcess> running_now() const {
    std::vector<RunningProcess> processes;
    for (const int64_t pid : table_->live()) {
      if (auto running = read_running(pid)) processes.push_back(std::move(*running));
    }
    return processes;
  }

  void drain() {
    if (scope_.reaped) return source_->drain(*table_);
    NamespaceListener listener(*table_, target_->inner_ids());
    source_->drain(listener);
  }

  // What was used since take_in, while other probes started. Of a host the sums are the kernel's,
  // and reading all of it again would take as long.
  void leave_out_the_start() {
    if (scope_.kind == Scope::Kind::kSystem) return;
    drain();
    poll_->leave_out_anew();
    for (const RunningProcess& process : running_now()) {
      poll_->adopt(process.pid, table_->container_pid(process.pid));
      table_->rebase(process);
    }
  }

  // Whoever waits for a process, or holds its pidfd, may know of its end before the kernel tells
  // its last figures: on a busy machine, milliseconds.
  void await_exits() {
    for (int left = kExitPatience; left >= 0; --left) {
      std::vector<int64_t> untold = table_->live();
      std::erase_if(untold, is_running);
      if (untold.empty()) return;
      if (left == 0) {
        for (const int64_t pid : untold) table_->vanished(pid, monotonic_ns());
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      drain();
    }
  }

  // A cgroup takes in processes that nobody in it started; so does the host, as far as a source by
  // looks can tell.
  [[nodiscard]] bool may_be_joined() const {
    return scope_.kind == Scope::Kind::kCgroup ||
           (scope_.kind == Scope::Kind::kSystem && !told_at_exit_);
  }

  void look(int64_t now_ns, bool slow, bool last = false) {
    ++looks_;
    if (cgroup_reader_) slow ? write_cgroup() : write_cgroup_often();
    if (slow && !containers_.empty()) write_containers(last);
    if (slow && cores_) cores_->write(*out_, now_ns);
    drain();
    if (slow && may_be_joined()) take_in();
    const TreeFigures before = poll_->figures();
    const TreeFigures& tree = poll_->look(*table_, slow, last);
    table_->write_changes();
    note_rates(now_ns, before, tree);
    write_tree(poll_->cpu_time_ns(), tree);
    if (slow) {
      for (ContainerFigures& container : containers_)
        container.write_io(*out_, now_ns, poll_->io_of_container(container.pid()), last);
    }
    if (slow) {
      GaugeWriter host(*out_, "host", now_ns);
      host_reader_.write(host);
    }
  }

  // Others reap the last processes of a container before they can be polled.
  void write_reported_io() {
    const TaskUsage told = table_->sum();
    if (!told_at_exit_ || !table_->exact() || source_->dropped() > 0) return;
    const int64_t now_ns = monotonic_ns();
    GaugeWriter gauges(*out_, "tree", now_ns);
    if (scope_.kind != Scope::Kind::kSystem) write_io(gauges, poll_->reported(told));
    for (ContainerFigures& container : containers_)
      container.write_io(*out_, now_ns, io_of(table_->sum_of_container(container.pid())), true);
  }

  void write_containers(bool last) {
    const Stalls stalls = last ? Stalls{} : stalls_.read();
    for (ContainerFigures& container : containers_) container.write(*out_, stalls, last);
  }

  void note_rates(int64_t now_ns, const TreeFigures& before, const TreeFigures& now) {
    peak_rss_bytes_ = std::max(peak_rss_bytes_, now.rss_bytes);
    const auto elapsed = static_cast<double>(now_ns - last_look_ns_);
    if (last_look_ns_ > 0 && elapsed > 0) {
      const auto rate = [elapsed](int64_t from, int64_t to) {
        return static_cast<double>(to - from) / elapsed;
      };
      cpu_cores_ = rate(before.user_ns + before.system_ns, now.user_ns + now.system_ns);
      read_per_s_ = rate(before.read_chars.value_or(0), now.read_chars.value_or(0)) * 1e9;
      written_per_s_ = rate(before.written_chars.value_or(0), now.written_chars.value_or(0)) * 1e9;
    }
    last_look_ns_ = now_ns;
  }

  void write_tree(int64_t now_ns, const TreeFigures& tree) {
    GaugeWriter gauges(*out_, "tree", now_ns);
    write_figures(gauges, tree, table_->live_count());
  }

  // A cgroup that is attached to may be gone: what was read last stays.
  void write_cgroup() {
    const CgroupFigures now = cgroup_reader_->read();
    cgroup_gone_ = scope_.attached && !now.user_ns;
    if (cgroup_gone_) return;
    cgroup_ = now;
    GaugeWriter gauges(*out_, "cgroup", now.time_ns);
    write_figures(gauges, cgroup_);
    network_.read();
    network_.write(gauges);
  }

  // Rates of short intervals need the CPU time, and what memory is used for may change quickly.
  void write_cgroup_often() {
    const CgroupFigures now = cgroup_reader_->read_often();
    if (!now.usage_ns) return;
    GaugeWriter gauges(*out_, "cgroup", now.time_ns);
    write_often(gauges, now);
  }

  ProbeSettings settings_;
  const Target* target_ = nullptr;
  RecordStream* out_ = nullptr;
  std::optional<Result<std::unique_ptr<TaskSource>>> loaded_;  // by load()
  std::unique_ptr<TaskSource> source_;
  std::unique_ptr<ProcessTable> table_;
  std::unique_ptr<TreePoll> poll_;
  std::optional<CgroupReader> cgroup_reader_;
  HostReader host_reader_;
  std::optional<CoreReader> cores_;  // of a container
  Scope scope_;
  CgroupFigures cgroup_before_, cgroup_, step_cgroup_;
  TreeFigures step_tree_;
  ContainerNetwork network_;
  std::vector<ContainerFigures> containers_;  // of several
  StallReader stalls_;
  std::optional<SystemStat> host_before_, host_;
  bool told_at_exit_ = false, cgroup_gone_ = false;
  std::string why_;
  int64_t attach_ns_ = 0;
  HiddenIo hidden_;
  int64_t looks_ = 0, left_out_ = 0, next_slow_ns_ = 0, next_look_ns_ = 0, last_look_ns_ = 0,
          peak_rss_bytes_ = 0;
  double cpu_cores_ = -1, read_per_s_ = -1, written_per_s_ = -1;
};

// Totals of the run. CPU time: the cgroup's, which misses nothing; else the kernel's sums at wait.
// I/O and faults: what every process told as it ended; else the sums at wait, which miss children
// nobody waited for. Of bytes the larger then, for neither counts any twice.
void ResourcesProbe::total(Run& run) const {
  const TaskUsage told = table_->sum();
  const TreeFigures& tree = poll_->figures();
  const bool exact = table_->exact() && source_->dropped() == 0;
  total_cpu(run, told, exact);
  run.cgroup_peak_bytes = cgroup_.peak_memory_bytes;
  if (exact) run.wait_ns = told.wait_ns;
  run.peak_rss_bytes =
      exact ? told.peak_rss_bytes : std::max(told.peak_rss_bytes, tree.largest_rss_bytes);
  run.minor_faults = exact ? told.minor_faults : Maybe(tree.minor_faults);
  run.major_faults = exact ? told.major_faults : Maybe(tree.major_faults);
  for (const auto& [total, at_exit, at_wait] :
       {std::tuple(&run.read_chars, told.read_chars, tree.read_chars),
        {&run.written_chars, told.written_chars, tree.written_chars},
        {&run.disk_read_bytes, told.disk_read_bytes, tree.disk_read_bytes},
        {&run.disk_written_bytes, told.disk_written_bytes, tree.disk_written_bytes}})
    *total = exact ? at_exit : std::max(at_exit, at_wait);
  if (hidden_.forbids_sums())
    run.read_chars = run.written_chars = run.disk_read_bytes = run.disk_written_bytes = {};
  run.processes = table_->process_count();
  run.threads = table_->thread_count();
  if (exact) {
    run.voluntary_switches = told.voluntary_switches;
    run.involuntary_switches = told.involuntary_switches;
  }
  if (scope_.attached) return table_->tell_end(run);
  run.voluntary_switches = exact ? told.voluntary_switches : Maybe(tree.voluntary_switches);
  run.involuntary_switches = exact ? told.involuntary_switches : Maybe(tree.involuntary_switches);
  if (source_->dropped() == 0) run.left_running = table_->live_count();
}

void ResourcesProbe::total_cpu(Run& run, const TaskUsage& told, bool exact) const {
  const TreeFigures& tree = poll_->figures();
  run.user_ns = exact && scope_.attached ? told.user_ns : Maybe(tree.user_ns);
  run.system_ns = exact && scope_.attached ? told.system_ns : Maybe(tree.system_ns);
  const auto user = [](const SystemStat& host) { return host.user_ns + host.nice_ns; };
  const auto kernel = [](const SystemStat& host) {
    return host.system_ns + host.irq_ns + host.softirq_ns;
  };
  if (scope_.kind == Scope::Kind::kSystem && host_before_ && host_) {
    run.user_ns = user(*host_) - user(*host_before_);
    run.system_ns = kernel(*host_) - kernel(*host_before_);
  } else if (scope_.attached && !cgroup_gone_ && cgroup_.user_ns && cgroup_before_.user_ns) {
    run.user_ns = *cgroup_.user_ns - *cgroup_before_.user_ns;
    run.system_ns = cgroup_.system_ns.value_or(0) - cgroup_before_.system_ns.value_or(0);
  } else if (!scope_.attached) {
    // What a container's runtime used before it let go is none of the target's.
    const auto since = [this](const Maybe& before, const Maybe& now) {
      return scope_.reaped ? *now : *now - before.value_or(0);
    };
    if (cgroup_.user_ns) run.user_ns = since(cgroup_before_.user_ns, cgroup_.user_ns);
    if (cgroup_.system_ns) run.system_ns = since(cgroup_before_.system_ns, cgroup_.system_ns);
    if (cgroup_.usage_ns && exact)
      split_as_processes(since(cgroup_before_.usage_ns, cgroup_.usage_ns), told, run);
  }
}

}  // namespace

std::unique_ptr<Probe> make_resources_probe(const ProbeSettings& settings) {
  return std::make_unique<ResourcesProbe>(settings);
}

}  // namespace fathom
