// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <random>
#include <thread>

#include "base/clock.h"
#include "base/host.h"
#include "base/proc.h"
#include "base/text.h"
#include "base/version.h"
#include "record/merge.h"
#include "record/recording.h"
#include "session/bpf_clock.h"
#include "session/event_loop.h"

namespace fathom {
namespace {

constexpr int64_t kFlushEvery = kNsPerSecond;
constexpr int64_t kFlushEarly = 100 * kNsPerMs;  // by a tick that is nearly there
constexpr int64_t kProgressEvery = kNsPerSecond;

const char* reason_text(EndReason reason) {
  static constexpr std::array kTexts = {"exited",      "signalled", "duration", "timeout",
                                        "interrupted", "lost",      "ended"};
  return kTexts[static_cast<size_t>(reason)];
}

int64_t own_cpu_ns() { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

// Of helpers that have ended, with what they waited for themselves.
int64_t helpers_cpu_ns() {
  const auto ns = [](const timeval& time) {
    return time.tv_sec * kNsPerSecond + time.tv_usec * (kNsPerMs / 1000);
  };
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

// Not getrusage(2): its figure begins at the size of whoever started us.
Maybe own_peak_rss_bytes() {
  const auto status = read_proc_status("/proc/self");
  return status.ok() ? status.value().peak_rss_bytes : std::nullopt;
}

struct Attached {
  const ProbeInfo* info;
  std::unique_ptr<Probe> probe;
  int64_t cpu_ns = 0;
  std::jthread thread = {};  // that loads, and sets cpu_ns, or stops
};

// Ends what was launched before signals may end us again: whatever it left must be removed.
struct LetGo {
  std::unique_ptr<Target>& target;
  ~LetGo() { target.reset(); }
};

class Session {
 public:
  Session(const SessionOptions& options, Sink& sink) : options_(options), out_(sink) {
    if (options.on_rows) out_.observe(options.on_rows);
  }

  Result<SessionResult> run(const std::string& run_id) {
    TRY_ASSIGN(EventLoop loop, EventLoop::create(std::min(options_.settings.interval_ns,
                                                          longest_tick_ns(options_.probes))));
    LaunchRequest request = options_.request;
    request.run_label = run_id;
    request.signal_mask = loop.mask_before();
    if (options_.holds_interrupts) sigdelset(&request.signal_mask, SIGINT);
    TRY(prepare(request));
    const LetGo let_go{target_};
    const bool is_process = !request.command.empty() && !request.container;
    if (is_process) load();
    TRY_ASSIGN(target_, options_.launcher->launch(request));
    begin(run_id);
    TRY(attach());
    TRY(watch(loop));
    bpf_clock_.begin(bpf_programs(), monotonic_ns());
    run_.start_ns = monotonic_ns();
    each_probe([&](Probe& probe) { probe.begin(run_.start_ns); });
    if (!scope_.attached) run_.start_ns = monotonic_ns();  // it has been waiting
    TRY(target_->go());
    out_.add(run_);
    take_steps();
    out_.flush();
    supervise(loop);
    return end();
  }

 private:
  void begin(const std::string& run_id) {
    out_.keep_ids([this](const Dictionary& from, Interner& to) { carry_over(run_, from, to); });
    const HostFacts host = host_facts();
    const auto text = [this](std::string_view value) { return out_.string(value); };
    run_.id = text(run_id);
    run_.label = text(options_.label);
    run_.host = text(host.name);
    run_.kernel = text(host.kernel);
    run_.cpu_model = text(host.cpu_model);
    run_.cores = host.cores;
    run_.memory_bytes = host.memory_bytes;
    run_.virtualization = text(host.virtualization);
    run_.user = text(host.user);
    scope_ = target_->scope();
    run_.command = text(scope_.attached ? "attached to " + scope_.title
                                        : shell_quote(options_.request.command));
    std::error_code ignored;
    run_.cwd = text(options_.request.cwd.empty() ? std::filesystem::current_path(ignored).string()
                                                 : options_.request.cwd);
    run_.launcher = text(options_.launcher->name);
    run_.interval_ns = options_.settings.interval_ns;
    run_.version = text(kVersion);
    run_.real_offset_ns = real_offset_ns();
    const TargetFacts facts = target_->facts();
    run_.image_digest = text(facts.image_digest);
    run_.dataset_hash = text(facts.dataset_hash);
    run_.limits = text(facts.limits);
    for (const std::string& note : facts.notes)
      if (options_.on_note) options_.on_note(note);
  }

  Status prepare(LaunchRequest& request) {
    for (const ProbeInfo* info : options_.probes) {
      probes_.push_back({info, info->make(options_.settings)});
      if (auto prepared = probes_.back().probe->prepare(request); !prepared.ok())
        return std::move(prepared).error().within(std::string("prepare probe ") + info->name);
    }
    return {};
  }

  // All at once: most of the time the kernel waits until all CPUs have passed some point.
  void load() {
    for (Attached& attached : probes_) {
      attached.thread = std::jthread([&attached] {
        attached.probe->load();
        attached.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
      });
    }
  }

  Status attach() {
    for (Attached& attached : probes_)
      if (attached.thread.joinable()) attached.thread.join();
    for (Attached& attached : probes_) {
      const int64_t before = own_cpu_ns();
      if (auto started = attached.probe->start(*target_, out_); !started.ok())
        return std::move(started).error().within(std::string("start probe ") + attached.info->name);
      attached.cpu_ns += own_cpu_ns() - before;
    }
    return {};
  }

  [[nodiscard]] std::vector<int> bpf_programs() const {
    std::vector<int> programs;
    for (const Attached& attached : probes_) {
      const std::vector<int> own = attached.probe->bpf_programs();
      programs.insert(programs.end(), own.begin(), own.end());
    }
    return programs;
  }

  Status watch(const EventLoop& loop) const {
    for (const Attached& attached : probes_) {
      for (const int fd : attached.probe->wake_fds())
        TRY(loop.watch(fd, EventLoop::Source::kProbe));
    }
    if (target_->event_fd() < 0) return {};
    return loop.watch(target_->event_fd(), EventLoop::Source::kTarget);
  }

  template <class Act>
  void each_probe(Act&& act) {
    for (Attached& attached : probes_) {
      const int64_t before = own_cpu_ns();
      act(*attached.probe);
      attached.cpu_ns += own_cpu_ns() - before;
    }
  }

  void supervise(const EventLoop& loop) {
    Ending ending(*target_, options_.grace_ns);
    next_flush_ns_ = run_.start_ns + kFlushEvery;
    next_progress_ns_ = run_.start_ns + kProgressEvery / 4;
    while (!ended_) {
      const EventLoop::Event event = loop.wait(next_deadline(ending));
      const int64_t now_ns = monotonic_ns();
      if (event.signal != 0) ending.forward(event.signal, now_ns);
      if (event.probe) each_probe([&](Probe& probe) { probe.wake(now_ns); });
      if (event.target) take_departures();
      if (event.target) take_steps();
      if (scope_.attached) check_attached();
      lost_ = target_->lost();
      ended_ = lost_ || (main_ended_ && !(options_.wait_all && others_left()));
      if (event.tick && !ended_) tick(now_ns);
      if (!ended_) check_limits(now_ns, ending);
      ended_ = ended_ || ending.detached();
    }
    reason_ = reason_for(ending);
    // The first process of a container does not hear what it has no handler for: it is killed, and
    // that is how it was interrupted.
    const bool killed = status_ && WIFSIGNALED(*status_) && WTERMSIG(*status_) == SIGKILL;
    if (killed && !scope_.reaped && reason_ == EndReason::kInterrupted)
      interrupted_by_ = ending.asked_signal();
  }

  [[nodiscard]] EndReason reason_for(const Ending& ending) const {
    if (lost_ && !main_ended_) return EndReason::kLost;
    if (ending.begun()) return ending.reason();
    if (!status_) return EndReason::kEnded;
    return WIFSIGNALED(*status_) ? EndReason::kSignalled : EndReason::kExited;
  }

  void check_attached() {
    if (main_ended_ || !target_->over()) return;
    main_ended_ = true;
    status_ = target_->end_status();
  }

  void take_departures() {
    for (const Departure& departure : target_->departures()) {
      reaped_cpu_ns_ += departure.user_ns + departure.system_ns;
      each_probe([&](Probe& probe) { probe.departed(departure); });
      if (departure.is_main) {
        status_ = departure.status;
        main_ended_ = true;
      }
    }
  }

  void take_steps() {
    for (auto events = target_->step_events(); !events.empty(); events = target_->step_events()) {
      for (const StepEvent& event : events) {
        if (event.kind == StepEvent::Kind::kBegan)
          begin_step(event);
        else if (event.kind == StepEvent::Kind::kNotReached)
          out_.add(row_of(event));
        else
          end_step(event);
      }
    }
  }

  static std::string step_title(const StepEvent& event) {
    return event.repetition > 1 ? fmt::format("{} ({})", event.name, event.repetition) : event.name;
  }

  void begin_step(const StepEvent& event) {
    out_.add(Mark{event.time_ns, out_.string("step " + step_title(event))});
    open_steps_.push_back(event);
    each_probe([&](Probe& probe) { probe.step_began(event.time_ns); });
  }

  Step row_of(const StepEvent& event) {
    Step row;
    row.name = out_.string(event.name);
    row.command = out_.string(event.command);
    row.repetition = event.repetition;
    row.start_ns = event.time_ns;
    return row;
  }

  void end_step(const StepEvent& event) {
    const auto begun =
        std::find_if(open_steps_.begin(), open_steps_.end(), [&](const StepEvent& open) {
          return open.name == event.name && open.repetition == event.repetition;
        });
    Step row = row_of(event);
    if (begun != open_steps_.end()) row.start_ns = begun->time_ns;
    if (event.kind == StepEvent::Kind::kEnded) row.end_ns = event.time_ns;
    if (event.status && WIFEXITED(*event.status)) row.exit_status = WEXITSTATUS(*event.status);
    if (event.status && WIFSIGNALED(*event.status)) row.exit_signal = WTERMSIG(*event.status);
    row.timed_out = event.timed_out ? 1 : 0;
    // What ran beside it is in its figures; what began in between has taken the marks for itself.
    const bool alone = begun != open_steps_.end() && begun + 1 == open_steps_.end();
    if (begun != open_steps_.end()) open_steps_.erase(begun);
    if (alone) each_probe([&](Probe& probe) { probe.step_ended(event.time_ns, row); });
    out_.add(row);
    out_.add(Mark{event.time_ns, out_.string("end of " + step_title(event))});
  }

  // Whether the probes still see processes of the tree.
  [[nodiscard]] bool others_left() const {
    LiveFigures figures;
    for (const Attached& attached : probes_) attached.probe->live(figures);
    return figures.processes > 0;
  }

  void tick(int64_t now_ns) {
    each_probe([&](Probe& probe) { probe.tick(now_ns); });
    bpf_clock_.tick(now_ns);
    if (now_ns >= next_flush_ns_ - kFlushEarly) {
      // The last of them remains if the recorder is killed.
      for (const Attached& attached : probes_)
        out_.add(status_of(attached, attached.probe->report()));
      out_.flush();
      out_.renew_names();
      next_flush_ns_ = now_ns + kFlushEvery;
    }
    if (now_ns >= next_progress_ns_ && options_.on_progress) {
      Progress progress{now_ns - run_.start_ns, out_.records(), dropped(), {}, scope_.title};
      for (const Attached& attached : probes_) attached.probe->live(progress.figures);
      options_.on_progress(progress);
      next_progress_ns_ = now_ns + kProgressEvery;
    }
    const SinkReport sink = out_.report();
    if (sink.error && !warned_ && options_.on_warning) options_.on_warning(*sink.error);
    warned_ = warned_ || sink.error.has_value();
  }

  void check_limits(int64_t now_ns, Ending& ending) const {
    const int64_t elapsed_ns = now_ns - run_.start_ns;
    const auto passed = [elapsed_ns](int64_t limit_ns) {
      return limit_ns > 0 && elapsed_ns >= limit_ns;
    };
    if (!ending.begun() && passed(options_.duration_ns))
      ending.begin(EndReason::kDuration, SIGTERM, now_ns);
    if (!ending.begun() && passed(options_.timeout_ns))
      ending.begin(EndReason::kTimeout, SIGTERM, now_ns);
    ending.check(now_ns);
  }

  [[nodiscard]] int64_t next_deadline(const Ending& ending) const {
    if (ending.begun()) return ending.next_ns();
    int64_t limit_ns = options_.duration_ns;
    if (options_.timeout_ns > 0 && (limit_ns == 0 || options_.timeout_ns < limit_ns))
      limit_ns = options_.timeout_ns;
    return limit_ns > 0 ? run_.start_ns + limit_ns : 0;
  }

  [[nodiscard]] int64_t dropped() const {
    int64_t sum = out_.report().dropped_records;
    for (const Attached& attached : probes_) sum += attached.probe->report().dropped;
    return sum;
  }

  void finish_probes(int64_t now_ns) {
    for (Attached& attached : probes_)
      if (attached.probe->has_stop())
        attached.thread = std::jthread([&probe = *attached.probe] { probe.stop(); });
    each_probe([&](Probe& probe) {
      if (!probe.has_stop()) probe.finish(now_ns);
    });
    for (Attached& attached : probes_)
      if (attached.thread.joinable()) attached.thread.join();
    each_probe([&](Probe& probe) {
      if (probe.has_stop()) probe.finish(now_ns);
    });
  }

  Result<SessionResult> end() {
    const int64_t now_ns = monotonic_ns();
    finish_probes(now_ns);
    run_.end_ns = now_ns;
    if (status_ && WIFEXITED(*status_)) run_.exit_status = WEXITSTATUS(*status_);
    if (status_ && WIFSIGNALED(*status_)) run_.exit_signal = WTERMSIG(*status_);
    run_.end_reason = out_.string(reason_text(reason_));
    out_.settle();  // sinks keep room for what follows, the last frame; it says what was lost
    int64_t buffer_bytes = 0;
    for (const Attached& attached : probes_) {
      attached.probe->total(run_);
      const ProbeReport report = attached.probe->report();
      buffer_bytes += report.buffer_bytes;
      out_.add(status_of(attached, report));
    }
    const bool out_of_memory = target_->end_note() == "oom";
    // The end of the target only where it failed: a shell may survive what it started.
    const bool survived = status_ == 0;
    if (out_of_memory)
      out_.add(Mark{now_ns, out_.string(survived ? "a process was killed: out of memory"
                                                 : "killed: out of memory")});
    if (out_of_memory && !survived) run_.end_reason = out_.string("out of memory");
    run_.dropped = dropped();
    run_.recorder_buffer_bytes = buffer_bytes;
    run_.recorder_bpf_ns = bpf_clock_.finish(now_ns);
    probes_.clear();  // takes as long as starting them, and is part of what recording costs
    target_->finish();
    run_.recorder_cpu_ns = recorder_cpu_ns();
    run_.recorder_rss_bytes = own_peak_rss_bytes();
    const SinkReport sink = out_.report();
    run_.records = out_.records() + 1 - sink.dropped_records;
    if (sink.dropped_records > 0 && sink.error)
      run_.damage = out_.string(unwritten_damage(sink.dropped_records, *sink.error));
    out_.add(run_);
    Status closed = out_.close();
    SessionResult result{status_.value_or(0), scope_.attached, reason_, out_of_memory,
                         out_.report()};
    result.interrupted_by = interrupted_by_;
    if (!closed.ok() && !result.sink.error) result.sink.error = std::move(closed).error();
    return result;
  }

  // Of this process and its helpers: fathom-spawn reaps the target, whose time is the target's.
  [[nodiscard]] int64_t recorder_cpu_ns() const {
    const bool reaps_target = scope_.reaped && !scope_.attached;
    const int64_t helpers_ns = helpers_cpu_ns() - (reaps_target ? reaped_cpu_ns_ : 0);
    return own_cpu_ns() + std::max<int64_t>(0, helpers_ns);
  }

  ProbeStatus status_of(const Attached& attached, const ProbeReport& report) {
    ProbeStatus status;
    status.probe = out_.string(attached.info->name);
    status.rung = out_.string(report.rung);
    status.settings = out_.string(report.settings);
    status.seen = report.seen;
    status.dropped = report.dropped;
    status.why = out_.string(report.why);
    status.cpu_ns = attached.cpu_ns;
    status.memory_bytes = report.buffer_bytes;
    return status;
  }

  const SessionOptions& options_;
  RecordStream out_;
  Run run_;
  std::unique_ptr<Target> target_;
  std::vector<Attached> probes_;
  BpfClock bpf_clock_;
  int64_t reaped_cpu_ns_ = 0;  // of processes that the launcher waited for
  int64_t next_flush_ns_ = 0, next_progress_ns_ = 0;
  Scope scope_;
  std::vector<StepEvent> open_steps_;  // that have begun
  std::optional<int> status_;          // as wait(2)
  EndReason reason_ = EndReason::kExited;
  int interrupted_by_ = 0;
  bool main_ended_ = false, ended_ = false, lost_ = false, warned_ = false;
};

}  // namespace

std::string new_run_id() {
  std::random_device random;
  return fmt::format("{:%Y%m%dT%H%M%S}Z-{:08x}", fmt::gmtime(std::time(nullptr)), random());
}

Result<SessionResult> run_session(const SessionOptions& options, const std::string& run_id,
                                  Sink& sink) {
  return Session(options, sink).run(run_id);
}

}  // namespace fathom
