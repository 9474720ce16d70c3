// SPDX-License-Identifier: Apache-2.0
#include "probe/stacks/stacks_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <unordered_map>

#include "base/clock.h"
#include "base/fd.h"
#include "base/proc.h"
#include "base/text.h"
#include "probe/stacks/node_sums.h"
#include "probe/stacks/sample_source.h"
#include "probe/stacks/stack_builder.h"

namespace fathom {
namespace {

// A record may be finished a little after its time: younger ones wait for the next drain, so that
// those of other CPUs keep their order.
constexpr int64_t kSettleNs = 5 * kNsPerMs;
constexpr int64_t kSumsEvery = 10 * kNsPerSecond;
constexpr size_t kEndedKept = 512;  // processes

std::string cache_folder() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder == '/')
    return std::string(folder) + "/fathom";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/fathom" : "";
}

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

class StacksProbe final : public Probe, private SampleListener {
 public:
  explicit StacksProbe(const ProbeSettings& settings) : settings_(settings) {}

  Status start(const Target& target, RecordStream& out) override;
  void tick(int64_t now_ns) override;
  void finish(int64_t now_ns) override;
  [[nodiscard]] std::vector<int> wake_fds() const override { return source_->wake_fds(); }
  void wake(int64_t now_ns) override { source_->drain(*this, now_ns - kSettleNs); }
  [[nodiscard]] ProbeReport report() const override;

 private:
  void choose_rates();
  Status choose_source(const Target& target);
  void learn_existing(const Target& target);
  void intern_constants();
  void on_sample(const RawSample& raw) override;
  void add_owed(int64_t now_ns);
  void add(const RawSample& raw, StackId stack, StackEnd end);
  void on_change(const TaskChange& change) override;
  StringId program_of(int64_t pid);
  void forget_program_later(int64_t pid);
  DetailId detail_of(StackEnd end);
  [[nodiscard]] int64_t weight_of(const RawSample& raw) const;
  [[nodiscard]] std::string rate_text() const;
  void add_why(const std::string& text) { why_ += (why_.empty() ? "" : "; ") + text; }

  ProbeSettings settings_;
  SampleSettings sampling_;
  RecordStream* out_ = nullptr;
  std::unique_ptr<SampleSource> source_;
  std::unique_ptr<StackBuilder> builder_;
  std::unique_ptr<NodeSums> sums_;
  std::unordered_map<int64_t, std::string> programs_;  // by pid
  std::deque<int64_t> ended_;                          // pids, oldest first
  StringId event_{}, on_cpu_{};
  std::array<DetailId, static_cast<size_t>(StackEnd::kCount)> details_{};
  std::string why_;
  int64_t samples_ = 0, next_sums_ns_ = 0;
  std::vector<int64_t> samples_of_rate_;
  int64_t all_rates_hz_ = 0;
};

Status StacksProbe::start(const Target& target, RecordStream& out) {
  out_ = &out;
  sampling_.event = settings_.event;
  TRY_ASSIGN(sampling_.what, find_perf_event(settings_.event));
  sampling_.each = samples_each(sampling_.what);
  choose_rates();
  builder_ = std::make_unique<StackBuilder>(out.names(), cache_folder(), settings_.lines);
  sums_ = std::make_unique<NodeSums>(out, sampling_.event, sampling_.what.unit);
  intern_constants();
  out.keep_ids([this](const Dictionary& from, Interner& to) {
    sums_->carry_over(from, to);
    builder_->forget_ids();
    details_ = {};
    event_ = on_cpu_ = StringId::kNone;
  });
  TRY(choose_source(target));
  learn_existing(target);
  if (!source_->sees_kernel() && sampling_.what.attr.exclude_kernel == 0) {
    add_why("time in the kernel is not sampled (sysctl kernel.perf_event_paranoid=1)");
  }
  return {};
}

// Each once, none above what the kernel takes.
void StacksProbe::choose_rates() {
  if (sampling_.each) return;
  const int64_t highest = highest_rate();
  for (const int64_t wanted : settings_.rates_hz) {
    const int64_t rate = std::min(wanted, highest);
    std::vector<int64_t>& rates = sampling_.rates_hz;
    if (rate < wanted && why_.empty()) {
      why_ = fmt::format(
          "the kernel takes {} Hz at most, {} was asked for (sysctl "
          "kernel.perf_event_max_sample_rate)",
          highest, wanted);
    }
    if (std::find(rates.begin(), rates.end(), rate) == rates.end()) rates.push_back(rate);
  }
  samples_of_rate_.assign(sampling_.rates_hz.size(), 0);
  for (const int64_t rate : sampling_.rates_hz) all_rates_hz_ += rate;
  for (const int64_t rate : sampling_.rates_hz) {
    for (const int64_t other : sampling_.rates_hz) {
      if (rate > other && rate % other == 0)
        add_why(fmt::format("{} is a multiple of {} Hz: their samples fall together", rate, other));
    }
  }
}

Status StacksProbe::choose_source(const Target& target) {
  const SampledScope scope = SampledScope::of(target);
  auto source = sample_by_bpf(scope, sampling_);
  if (!source.ok()) {
    add_why("stacks beyond 64 KB are cut (bpf: " + source.error().message + ")");
    source = sample_by_perf(scope, sampling_);
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
  event_ = out_->string(sampling_.event);
  on_cpu_ = out_->string("on-cpu");
}

void StacksProbe::tick(int64_t now_ns) {
  wake(now_ns);
  if (now_ns < next_sums_ns_) return;
  next_sums_ns_ = now_ns + kSumsEvery;
  sums_->write();
}

void StacksProbe::finish(int64_t now_ns) {
  source_->drain(*this, INT64_MAX);
  add_owed(now_ns);
  sums_->write();
}

void StacksProbe::on_sample(const RawSample& raw) {
  const BuiltStack built = builder_->build(raw);
  source_->note(built.end == StackEnd::kCut || built.end == StackEnd::kJoined, built.needed_bytes);
  add(raw, built.stack, built.end);
}

// A CPU that dropped samples and took none after: sums stay right, under a name that says so.
void StacksProbe::add_owed(int64_t now_ns) {
  RawSample raw;
  raw.time_ns = now_ns;
  raw.pid = raw.tid = -1;
  for (uint32_t rate = 0; rate < std::max<size_t>(1, sampling_.rates_hz.size()); ++rate) {
    raw.rate = rate;
    raw.weight = source_->owed(rate);
    if (raw.weight == 0) continue;
    Frame lost;
    lost.symbol = out_->string("[lost]");
    add(raw, out_->names().stack(StackId::kNone, out_->names().frame(lost)), StackEnd::kLost);
  }
}

void StacksProbe::add(const RawSample& raw, StackId stack, StackEnd end) {
  if (event_ == StringId::kNone) intern_constants();
  Sample sample;
  sample.time_ns = raw.time_ns;
  if (raw.tid >= 0) sample.thread = out_->names().thread(raw.pid, raw.tid);
  sample.cpu = raw.cpu;
  sample.event = event_;
  if (!sampling_.rates_hz.empty()) {
    sample.rate_hz = sampling_.rates_hz[raw.rate];
    ++samples_of_rate_[raw.rate];
  }
  sample.stack = stack;
  sample.weight = weight_of(raw);
  sample.state = on_cpu_;
  sample.detail = detail_of(end);
  const FrameId leaf = out_->names().dictionary().stacks[index_of(stack)].frame;
  sums_->add(leaf, program_of(raw.pid), sample.weight);
  ++samples_;
  out_->add(sample);
}

// Samples of each rate stand for all of the time; together they stand for it once, and each sample
// for as much as any other.
int64_t StacksProbe::weight_of(const RawSample& raw) const {
  if (sampling_.rates_hz.size() < 2) return raw.weight;
  const double part =
      static_cast<double>(sampling_.rates_hz[raw.rate]) / static_cast<double>(all_rates_hz_);
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

DetailId StacksProbe::detail_of(StackEnd end) {
  if (end == StackEnd::kComplete) return DetailId::kNone;
  DetailId& known = details_[static_cast<size_t>(end)];
  if (known == DetailId::kNone) {
    const DetailItem item{out_->string("unwind"), out_->string(stack_end_name(end))};
    known = out_->names().detail({&item, 1});
  }
  return known;
}

std::string StacksProbe::rate_text() const {
  if (sampling_.each) return sampling_.event + ", each one";
  std::string text =
      fmt::format("{} at {} Hz", sampling_.event, fmt::join(settings_.rates_hz, ", "));
  // A clock counts all time, also where only a part of it is sampled.
  const bool all_sampled = source_->sees_kernel() && sampling_.what.attr.exclude_user == 0;
  const int64_t counted_ns = source_->counted();
  if (std::string_view(sampling_.what.unit) == "ns" && counted_ns > 0 && all_sampled) {
    const double seconds = static_cast<double>(counted_ns) / 1e9;
    std::vector<std::string> obtained;
    for (const int64_t samples : samples_of_rate_)
      obtained.push_back(fmt::format("{:.1f}", static_cast<double>(samples) / seconds));
    text += fmt::format(", {} obtained", fmt::join(obtained, ", "));
  }
  return text;
}

ProbeReport StacksProbe::report() const {
  ProbeReport report;
  report.rung = source_->name();
  report.settings = rate_text();
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
