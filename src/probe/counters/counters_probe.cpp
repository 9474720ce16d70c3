// SPDX-License-Identifier: Apache-2.0
#include "probe/counters/counters_probe.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/proc.h"
#include "base/text.h"
#include "probe/counters/counter_set.h"
#include "probe/counters/refusal.h"
#include "probe/counters/thread_counts.h"

namespace fathom {
namespace {

constexpr int64_t kTotalsEvery = kNsPerSecond;
// Thousands of attached threads take long to ask: slices are then longer, by so many times that.
constexpr int64_t kCostFactor = 50;
// A thread that ran so long while its event's time stood still is counted no more.
constexpr int64_t kSurelyRanNs = 5'000'000;
constexpr const char* kLost =
    "lost at exec: the kernel closes counters when a process becomes a program with other rights "
    "(setuid, or one that it may not read); run as root, they are the cgroup's and stay";
constexpr const char* kLayer = "cpu";
constexpr const char* kThreadLayer = "cpu-thread";

class CountersProbe final : public Probe {
 public:
  explicit CountersProbe(const ProbeSettings& settings) : settings_(settings) {}

  Status prepare(LaunchRequest& request) override;
  Status start(const Target& target, RecordStream& out) override;
  void begin(int64_t now_ns) override;
  void tick(int64_t now_ns) override;
  void finish(int64_t now_ns) override;
  [[nodiscard]] std::vector<int> wake_fds() const override {
    return threads_ ? threads_->wake_fds() : std::vector<int>{};
  }
  void wake(int64_t /*now_ns*/) override {
    if (threads_) threads_->drain([this](const ThreadCount& count) { add_thread(count); });
  }
  [[nodiscard]] ProbeReport report() const override;

 private:
  void open_threads(const SampledScope& scope);
  void look_for_loss();
  void add_slice(int64_t now_ns);
  void add_totals();
  void add_thread(const ThreadCount& count);
  Counter counter_of(const CounterEvent& event, const EventReading& reading, int64_t count);

  ProbeSettings settings_;
  std::vector<EventRequest> requests_;
  RecordStream* out_ = nullptr;
  std::string scope_name_, why_;
  CounterSet set_;
  std::unique_ptr<ThreadCounts> threads_;
  std::vector<EventReading> latest_;  // at the end of the last slice, by event
  std::vector<int64_t> before_;       // what was written of them, scaled
  bool on_exec_ = false;
  bool lost_ = false;
  int64_t first_tid_ = 0, seen_run_ns_ = 0, seen_enabled_ns_ = 0;
  int64_t begin_ns_ = 0, slice_ns_ = 0, next_totals_ns_ = 0, rows_ = 0, cost_ns_ = 0;
};

Status CountersProbe::prepare(LaunchRequest& /*request*/) {
  TRY_ASSIGN(requests_,
             parse_events(settings_.counters.empty() ? kUsualEvents : settings_.counters));
  return {};
}

Status CountersProbe::start(const Target& target, RecordStream& out) {
  out_ = &out;
  if (requests_.empty()) return Error{Code::kInternal, "the list of events was not read", {}};
  const SampledScope scope =
      settings_.per_thread ? SampledScope::of_tasks(target) : SampledScope::of(target);
  scope_name_ = scope.name();
  CounterSetOptions options;
  options.per_cpu = settings_.per_thread;
  options.enable_on_exec = on_exec_ = scope.is_tree() && !target.scope().attached;
  set_ = CounterSet::open(requests_, scope, options);
  if (on_exec_) first_tid_ = scope.places().front().pid;
  latest_.resize(set_.events().size());
  before_.assign(set_.events().size(), 0);
  if (settings_.per_thread) open_threads(scope);
  return {};
}

void CountersProbe::open_threads(const SampledScope& scope) {
  if (!scope.is_tree()) {
    why_ = "no figures of single threads: the whole host is counted by CPU";
    return;
  }
  auto threads = ThreadCounts::open(set_, scope);
  if (threads.ok())
    threads_ = std::move(threads).value();
  else
    why_ = "no figures of single threads: " + threads.error().message;
}

void CountersProbe::begin(int64_t now_ns) {
  begin_ns_ = slice_ns_ = now_ns;
  if (!on_exec_) set_.enable();
}

// Of the first process only: what its children lose is not seen from here.
void CountersProbe::look_for_loss() {
  const std::vector<CounterEvent>& events = set_.events();
  const auto counted = std::find_if(events.begin(), events.end(),
                                    [](const CounterEvent& event) { return !event.fds.empty(); });
  if (first_tid_ == 0 || lost_ || counted == events.end()) return;
  const auto run = read_proc_schedstat(proc_folder(first_tid_));
  if (!run.ok()) return;
  const int64_t enabled_ns = set_.read(*counted).enabled_ns;
  if (enabled_ns == seen_enabled_ns_ && seen_run_ns_ > 0) {
    lost_ = run.value().run_ns - seen_run_ns_ >= kSurelyRanNs;
    return;
  }
  seen_enabled_ns_ = enabled_ns;
  seen_run_ns_ = run.value().run_ns;
}

void CountersProbe::tick(int64_t now_ns) {
  wake(now_ns);
  look_for_loss();
  const int64_t due_ns = std::max(settings_.interval_ns, kCostFactor * cost_ns_);
  if (now_ns - slice_ns_ + settings_.interval_ns / 4 < due_ns) return;
  add_slice(now_ns);
  if (now_ns >= next_totals_ns_) {
    next_totals_ns_ = now_ns + kTotalsEvery;
    add_totals();
  }
  cost_ns_ = monotonic_ns() - now_ns;
}

void CountersProbe::finish(int64_t now_ns) {
  add_slice(now_ns);
  add_totals();
  if (threads_) threads_->finish(now_ns, [this](const ThreadCount& count) { add_thread(count); });
}

Counter CountersProbe::counter_of(const CounterEvent& event, const EventReading& reading,
                                  int64_t count) {
  Counter counter;
  counter.name = out_->string(event.name);
  counter.count = count;
  if (std::string_view(event.unit) == "ns") counter.time_ns = count;
  if (reading.share() < 1) {
    const DetailItem item{out_->string("counted_share"), reading.share()};
    counter.detail = out_->names().detail({&item, 1});
  }
  return counter;
}

void CountersProbe::add_slice(int64_t now_ns) {
  for (size_t i = 0; i < set_.events().size(); ++i) {
    const CounterEvent& event = set_.events()[i];
    if (event.fds.empty()) continue;
    const EventReading& reading = latest_[i] = set_.read(event);
    const int64_t step = reading.scaled() - before_[i];
    if (step <= 0) continue;  // scaled ones may shrink: what was written stays
    before_[i] += step;
    Counter counter = counter_of(event, reading, step);
    counter.slice_ns = slice_ns_;
    counter.slice_length_ns = now_ns - slice_ns_;
    counter.layer = out_->string(kLayer);
    out_->add(counter);
    ++rows_;
  }
  slice_ns_ = now_ns;
}

void CountersProbe::add_totals() {
  for (size_t i = 0; i < set_.events().size(); ++i) {
    const CounterEvent& event = set_.events()[i];
    EventCount row;
    row.name = out_->string(event.name);
    row.unit = out_->string(event.unit);
    row.source = out_->string("perf");
    row.why = out_->string(event.why);
    if (!event.fds.empty() && lost_) row.why = out_->string(kLost);
    if (!event.fds.empty() && !lost_) {
      const EventReading& reading = latest_[i];
      row.enabled_ns = reading.enabled_ns;
      row.running_ns = reading.running_ns;
      if (reading.enabled_ns > 0 && reading.running_ns == 0)
        row.why = out_->string("no counter was free for it");
      else
        row.count = reading.scaled();
    }
    out_->add(row);
  }
}

void CountersProbe::add_thread(const ThreadCount& count) {
  for (size_t i = 0; i < set_.events().size(); ++i) {
    const CounterEvent& event = set_.events()[i];
    const EventReading& reading = count.readings[i];
    if (event.fds.empty() || reading.running_ns <= 0) continue;  // it never had a counter
    Counter counter = counter_of(event, reading, reading.scaled());
    counter.slice_ns = begin_ns_;
    counter.slice_length_ns = count.end_ns - begin_ns_;
    counter.layer = out_->string(kThreadLayer);
    counter.thread = out_->names().thread(count.pid, count.tid);
    out_->add(counter);
    ++rows_;
  }
}

ProbeReport CountersProbe::report() const {
  ProbeReport report;
  report.rung = "perf, " + scope_name_;
  report.settings = settings_.counters.empty() ? std::string(kUsualEvents) : settings_.counters;
  if (settings_.per_thread) report.settings += ", per thread";
  report.seen = rows_;
  report.why = why_;
  const auto add = [&report](const std::string& text) {
    report.why += (report.why.empty() ? "" : "; ") + text;
  };
  if (lost_) add(kLost);
  std::vector<std::pair<std::string, std::string>> reasons;  // why, and whose
  for (const CounterEvent& event : set_.events()) {
    if (event.why.empty()) continue;
    const std::string why = (event.fds.empty() ? "not supported here: " : "") + event.why;
    const auto same = std::find_if(reasons.begin(), reasons.end(),
                                   [&](const auto& reason) { return reason.first == why; });
    if (same == reasons.end())
      reasons.emplace_back(why, event.name);
    else
      same->second += ", " + event.name;
  }
  for (const auto& [why, names] : reasons) add(fmt::format("{}: {}", names, why));
  if (!threads_) return report;
  report.dropped = threads_->lost();
  report.buffer_bytes = threads_->mapped_bytes();
  if (report.dropped > 0) add("figures of some threads were lost and are with their ancestor's");
  if (threads_->silent())
    add("this kernel does not tell the figures of threads that end; they are with their "
        "ancestor's");
  return report;
}

}  // namespace

std::unique_ptr<Probe> make_counters_probe(const ProbeSettings& settings) {
  return std::make_unique<CountersProbe>(settings);
}

}  // namespace fathom
