// SPDX-License-Identifier: Apache-2.0
#include "probe/stacks/stacks_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <future>
#include <optional>
#include <unordered_map>

#include "base/clock.h"
#include "base/fd.h"
#include "base/proc.h"
#include "base/proc_system.h"
#include "base/text.h"
#include "probe/stack_builder.h"
#include "probe/stacks/node_sums.h"
#include "probe/stacks/sample_source.h"
#include "wire/stacks.h"

namespace fathom {
namespace {

// A record may be finished a little after its time: younger ones wait for the next drain, so that
// those of other CPUs keep their order.
constexpr int64_t kSettleNs = 5 * kNsPerMs;
constexpr int64_t kSumsEvery = 10 * kNsPerSecond;
constexpr size_t kEndedKept = 512;  // processes

// The highest rate the kernel takes; it lowers it when sampling takes too long.
int64_t highest_rate() {
  const auto text = read_file("/proc/sys/kernel/perf_event_max_sample_rate");
  return text.ok() ? std::max<int64_t>(1, std::atoll(text.value().c_str())) : INT64_MAX;
}

// The kernel guesses how many software events come in a second, and is wrong for most of a short
// run: what a sample stands for would be, too. So each is one.
bool samples_each(const PerfEventName& what) {
  const bool counts = std::string_view(what.unit) == "count";
  return what.attr.type == PERF_TYPE_TRACEPOINT || (what.attr.type == PERF_TYPE_SOFTWARE && counts);
}

// The time in which no CPU had anything to do: idle ones are not sampled, but their clocks run.
std::optional<int64_t> idle_ns() {
  const auto stat = read_system_stat();
  if (!stat.ok()) return std::nullopt;
  return stat.value().idle_ns + stat.value().iowait_ns;
}

class StacksProbe final : public Probe, private SampleListener {
 public:
  explicit StacksProbe(const ProbeSettings& settings) : settings_(settings) {}

  void load() override;
  Status start(const Target& target, RecordStream& out) override;
  void begin(int64_t now_ns) override { begin_ns_ = now_ns; }
  void tick(int64_t now_ns) override;
  void finish(int64_t now_ns) override;
  [[nodiscard]] std::vector<int> wake_fds() const override { return source_->wake_fds(); }
  void wake(int64_t now_ns) override { source_->drain(*this, now_ns - kSettleNs); }
  [[nodiscard]] std::vector<int> bpf_programs() const override { return source_->bpf_programs(); }
  [[nodiscard]] ProbeReport report() const override;

 private:
  // An event that samples are taken by.
  struct Event {
    std::string name;
    bool each = false;  // every one is a sample
    int64_t all_rates_hz = 0;
    StringId id{};
    NodeSums sums;
  };

  Status choose_samplers();
  void add_samplers(const std::string& name, const PerfEventName& what);
  void warn_of_multiples();
  Status choose_source(const Target& target);
  void learn_existing(const Target& target);
  void intern_constants();
  void on_sample(const RawSample& raw) override;
  void add_owed(int64_t now_ns);
  void add(const RawSample& raw, StackId stack, StackEnd end);
  void on_change(const TaskChange& change) override;
  StringId program_of(int64_t pid);
  void forget_program_later(int64_t pid);
  [[nodiscard]] int64_t weight_of(const RawSample& raw) const;
  [[nodiscard]] double seconds_of(uint32_t sampler) const;
  [[nodiscard]] std::string rate_text(size_t event) const;
  void add_why(const std::string& text) { why_ += (why_.empty() ? "" : "; ") + text; }

  ProbeSettings settings_;
  Samplers samplers_;
  std::vector<size_t> event_of_;     // by sampler: which of events_
  std::vector<int64_t> samples_of_;  // by sampler
  std::vector<Event> events_;
  RecordStream* out_ = nullptr;
  std::unique_ptr<LoadedSampler> loaded_;
  Fd held_events_;
  std::unique_ptr<SampleSource> source_;
  std::unique_ptr<StackBuilder> builder_;
  std::unordered_map<int64_t, std::string> programs_;  // by pid
  std::deque<int64_t> ended_;                          // pids, oldest first
  StringId on_cpu_{};
  std::string why_;
  int64_t samples_ = 0, next_sums_ns_ = 0;
  std::optional<int64_t> idle_before_ns_;      // of all CPUs, where the whole host is sampled
  int64_t begin_ns_ = 0, end_ns_ = INT64_MAX;  // of the run; what was there before goes on after it
};

// What it lacks here start() will lack again, and say.
void StacksProbe::load() {
  auto held = std::async(std::launch::async, hold_perf_events);
  auto loaded = load_bpf_sampler();
  if (loaded.ok()) loaded_ = std::move(loaded).value();
  held_events_ = held.get();
}

Status StacksProbe::start(const Target& target, RecordStream& out) {
  out_ = &out;
  if (target.scope().kind == Scope::Kind::kSystem) idle_before_ns_ = idle_ns();
  TRY(choose_samplers());
  builder_ = std::make_unique<StackBuilder>(out.names(), stack_cache_folder(), settings_.lines);
  intern_constants();
  out.keep_ids([this](const Dictionary& from, Interner& to) {
    for (Event& event : events_) event.sums.carry_over(from, to);
    builder_->forget_ids();
    on_cpu_ = StringId::kNone;
  });
  TRY(choose_source(target));
  learn_existing(target);
  const bool wants_kernel =
      std::any_of(samplers_.begin(), samplers_.end(),
                  [](const Sampler& sampler) { return sampler.what.attr.exclude_kernel == 0; });
  if (!source_->sees_kernel() && wants_kernel) {
    add_why("time in the kernel is not sampled (sysctl kernel.perf_event_paranoid=1)");
  }
  return {};
}

Status StacksProbe::choose_samplers() {
  for (const std::string& name : settings_.events) {
    TRY_ASSIGN(const PerfEventName what, find_perf_event(name));
    const auto same = [&](const Event& event) { return event.name == name; };
    if (std::none_of(events_.begin(), events_.end(), same)) add_samplers(name, what);
  }
  warn_of_multiples();
  samples_of_.assign(samplers_.size(), 0);
  if (samplers_.size() <= kWireMostSamplers) return {};
  return Error{Code::kInvalid,
               fmt::format("{} events at {} rates are too many at once", settings_.events.size(),
                           settings_.rates_hz.size()),
               fmt::format("{} at most together", static_cast<int>(kWireMostSamplers))};
}

// Each rate once, none above what the kernel takes.
void StacksProbe::add_samplers(const std::string& name, const PerfEventName& what) {
  const size_t event = events_.size(), first = samplers_.size();
  events_.push_back({name, samples_each(what), 0, {}, NodeSums(*out_, name, what.unit)});
  const auto add = [&](int64_t rate_hz) {
    for (size_t i = first; i < samplers_.size(); ++i)
      if (samplers_[i].rate_hz == rate_hz) return;
    samplers_.push_back({name, what, rate_hz});
    event_of_.push_back(event);
    events_[event].all_rates_hz += rate_hz;
  };
  if (events_[event].each) return add(0);
  const int64_t highest = highest_rate();
  for (const int64_t wanted : settings_.rates_hz) {
    if (wanted > highest && why_.empty()) {
      why_ = fmt::format(
          "the kernel takes {} Hz at most, {} was asked for (sysctl "
          "kernel.perf_event_max_sample_rate)",
          highest, wanted);
    }
    add(std::min(wanted, highest));
  }
}

void StacksProbe::warn_of_multiples() {
  for (const int64_t rate : settings_.rates_hz) {
    for (const int64_t other : settings_.rates_hz) {
      if (rate > other && rate % other == 0)
        add_why(fmt::format("{} is a multiple of {} Hz: their samples fall together", rate, other));
    }
  }
}

Status StacksProbe::choose_source(const Target& target) {
  const SampledScope scope = SampledScope::of(target);
  auto source = sample_by_loaded_bpf(scope, samplers_, std::move(loaded_));
  if (!source.ok()) {
    add_why("stacks beyond 64 KB are cut (bpf: " + source.error().message + ")");
    source = sample_by_perf(scope, samplers_);
  }
  if (!source.ok()) return std::move(source).error();
  source_ = std::move(source).value();
  return {};
}

// What is mapped so far, also of a started one, which waits before exec.
void StacksProbe::learn_existing(const Target& target) {
  if (target.scope().kind == Scope::Kind::kSystem) return;
  for (const int64_t pid : processes_in(target)) builder_->attach(pid, 0);
}

void StacksProbe::intern_constants() {
  for (Event& event : events_) event.id = out_->string(event.name);
  on_cpu_ = out_->string("on-cpu");
}

void StacksProbe::tick(int64_t now_ns) {
  wake(now_ns);
  if (now_ns < next_sums_ns_) return;
  next_sums_ns_ = now_ns + kSumsEvery;
  for (Event& event : events_) event.sums.write();
}

void StacksProbe::finish(int64_t now_ns) {
  end_ns_ = now_ns;
  source_->drain(*this, INT64_MAX);
  add_owed(now_ns);
  for (Event& event : events_) event.sums.write();
}

void StacksProbe::on_sample(const RawSample& raw) {
  if (raw.time_ns < begin_ns_ || raw.time_ns > end_ns_) return;
  const BuiltStack built = builder_->build(raw);
  source_->note(built.end == StackEnd::kCut || built.end == StackEnd::kJoined, built.needed_bytes);
  add(raw, built.stack, built.end);
}

// A CPU that dropped samples and took none after: sums stay right, under a name that says so.
void StacksProbe::add_owed(int64_t now_ns) {
  RawSample raw;
  raw.time_ns = now_ns;
  raw.pid = raw.tid = -1;
  for (uint32_t sampler = 0; sampler < samplers_.size(); ++sampler) {
    raw.sampler = sampler;
    raw.weight = source_->owed(sampler);
    if (raw.weight == 0) continue;
    Frame lost;
    lost.symbol = out_->string("[lost]");
    add(raw, out_->names().stack(StackId::kNone, out_->names().frame(lost)), StackEnd::kLost);
  }
}

void StacksProbe::add(const RawSample& raw, StackId stack, StackEnd end) {
  if (on_cpu_ == StringId::kNone) intern_constants();
  Event& event = events_[event_of_[raw.sampler]];
  Sample sample;
  sample.time_ns = raw.time_ns;
  if (raw.tid >= 0) sample.thread = out_->names().thread(raw.pid, raw.tid);
  sample.cpu = raw.cpu;
  sample.event = event.id;
  if (!event.each) sample.rate_hz = samplers_[raw.sampler].rate_hz;
  ++samples_of_[raw.sampler];
  sample.stack = stack;
  sample.weight = weight_of(raw);
  sample.state = on_cpu_;
  sample.detail = builder_->detail_of(end);
  const FrameId leaf = out_->names().dictionary().stacks[index_of(stack)].frame;
  event.sums.add(leaf, program_of(raw.pid), sample.weight);
  ++samples_;
  out_->add(sample);
}

// Samples of each rate stand for all of the time; together they stand for it once, and each sample
// for as much as any other.
int64_t StacksProbe::weight_of(const RawSample& raw) const {
  const int64_t rate_hz = samplers_[raw.sampler].rate_hz;
  const int64_t all_rates_hz = events_[event_of_[raw.sampler]].all_rates_hz;
  if (rate_hz == all_rates_hz) return raw.weight;
  const double part = static_cast<double>(rate_hz) / static_cast<double>(all_rates_hz);
  return std::llround(static_cast<double>(raw.weight) * part);
}

void StacksProbe::on_change(const TaskChange& change) {
  builder_->change(change);
  using Kind = TaskChange::Kind;
  if (change.kind == Kind::kExec || (change.kind == Kind::kName && change.pid == change.tid)) {
    programs_[change.pid] = printable(change.name);
  } else if (change.kind == Kind::kFork && change.pid != change.parent) {
    if (const auto parent = programs_.find(change.parent); parent != programs_.end())
      programs_[change.pid] = std::string(parent->second);
  } else if (change.kind == Kind::kExit && change.pid == change.tid) {
    forget_program_later(change.pid);
  }
}

// A process is sampled a little longer than it lives: while the kernel takes it down. One whose
// number was given out again is just asked for its name again.
void StacksProbe::forget_program_later(int64_t pid) {
  ended_.push_back(pid);
  if (ended_.size() <= kEndedKept) return;
  programs_.erase(ended_.front());
  ended_.pop_front();
}

StringId StacksProbe::program_of(int64_t pid) {
  if (const auto known = programs_.find(pid); known != programs_.end())
    return out_->string(known->second);
  auto name = read_proc_name(proc_folder(pid));
  if (!name.ok()) forget_program_later(pid);
  std::string& kept = programs_[pid];
  kept = printable(std::move(name).value_or("[unknown]"));
  return out_->string(kept);
}

// What a sampler's clock counted of the time in which it samples.
double StacksProbe::seconds_of(uint32_t sampler) const {
  const int64_t idle = idle_before_ns_ ? idle_ns().value_or(0) - *idle_before_ns_ : 0;
  return static_cast<double>(source_->counted(sampler) - idle) / 1e9;
}

std::string StacksProbe::rate_text(size_t event) const {
  const std::string& name = events_[event].name;
  if (events_[event].each) return name + ", each one";
  std::string text = fmt::format("{} at {} Hz", name, fmt::join(settings_.rates_hz, ", "));
  if (!source_->sees_kernel()) text += ", user code only";
  std::vector<std::string> obtained;
  double all_seconds = 0;
  for (uint32_t i = 0; i < samplers_.size(); ++i) {
    if (event_of_[i] != event || std::string_view(samplers_[i].what.unit) != "ns" ||
        samplers_[i].what.attr.exclude_user != 0)
      continue;
    const double seconds = seconds_of(i);
    if (seconds <= (idle_before_ns_ ? 1 : 0)) continue;  // idle time is told too coarsely for less
    all_seconds = std::max(all_seconds, seconds);
    const double rate_hz = static_cast<double>(samples_of_[i]) / seconds;
    // A clock counts all time, also where that in the kernel is not sampled: then only what is far
    // too little says anything. It comes of threads that live shorter than a period.
    const bool tells =
        source_->sees_kernel() || rate_hz < static_cast<double>(samplers_[i].rate_hz) / 2;
    obtained.push_back(tells ? fmt::format("{:.1f}", rate_hz) : "?");
  }
  const bool all_unknown = std::all_of(obtained.begin(), obtained.end(),
                                       [](const std::string& rate) { return rate == "?"; });
  if (!all_unknown)
    text += fmt::format(", {} obtained in {} CPU time", fmt::join(obtained, ", "),
                        format_duration_ns(std::llround(all_seconds * 1e9)));
  return text;
}

ProbeReport StacksProbe::report() const {
  ProbeReport report;
  report.rung = source_->name();
  for (size_t event = 0; event < events_.size(); ++event)
    report.settings += (event == 0 ? "" : "; ") + rate_text(event);
  report.seen = samples_;
  report.dropped = source_->dropped();
  report.why = why_;
  const auto add = [&report](const std::string& text) {
    report.why += (report.why.empty() ? "" : "; ") + text;
  };
  if (settings_.lines && !dwarf_api().ok()) add(dwarf_api().error().message);
  if (const int64_t files = builder_->symbolizer().without_lines(); files > 0)
    add(fmt::format("{} files have debug information that cannot be read", files));
  if (report.dropped > 0)
    add(format_count(report.dropped) + " records were lost: the recorder came too late");
  if (source_->throttled() > 0)
    add(fmt::format("the kernel throttled sampling {} times", source_->throttled()));
  report.buffer_bytes = source_->buffer_bytes();
  return report;
}

}  // namespace

std::unique_ptr<Probe> make_stacks_probe(const ProbeSettings& settings) {
  return std::make_unique<StacksProbe>(settings);
}

}  // namespace fathom
