// SPDX-License-Identifier: Apache-2.0
#include "probe/python/python_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/fd.h"
#include "base/install.h"
#include "base/saturate.h"
#include "base/scratch_folder.h"
#include "base/simdjson.h"
#include "base/text.h"
#include "launch/namespace_ids.h"
#include "probe/preload.h"
#include "probe/python/python_profile.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "lib/fathom-python";
constexpr const char* kStartUp = "lib/fathom-python/sitecustomize.py";
constexpr size_t kMostProfiles = 10'000;
constexpr int64_t kMostLooks = 1'000'000;  // at one stack
constexpr std::string_view kCpuEvent = "python-cpu-clock", kWallEvent = "python-wall-clock";
constexpr double kMinCoverage = 0.95;  // of CPU time by samples, or the report says so
constexpr std::string_view kApplication = ".TAU application";  // all of a thread, as TAU calls it

std::string counted(int64_t count, const char* one, const char* many) {
  return format_count(count) + " " + (count == 1 ? one : many);
}

class PythonProbe final : public Probe {
 public:
  explicit PythonProbe(const ProbeSettings& settings) : settings_(settings) {}
  ~PythonProbe() override {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  PythonProbe(const PythonProbe&) = delete;
  PythonProbe& operator=(const PythonProbe&) = delete;

  Status prepare(LaunchRequest& request) override;
  Status start(const Target& target, RecordStream& out) override {
    out_ = &out;
    start_ns_ = monotonic_ns();
    ids_.watch(&target);
    return {};
  }
  void tick(int64_t /*now_ns*/) override { ids_.look(); }
  void finish(int64_t now_ns) override;
  [[nodiscard]] ProbeReport report() const override;

 private:
  void take(const PythonProfile& profile, int64_t now_ns);
  void take_function(const PythonFunction& function, ThreadId thread, int64_t now_ns);
  void take_stack(const PythonStack& stack, const PythonProfile& profile, int64_t now_ns);
  [[nodiscard]] ThreadId thread_of(const PythonProfile& profile, int64_t tid) {
    return out_->names().thread(ids_.process(profile.pid_namespace, profile.pid),
                                ids_.thread(profile.pid_namespace, tid));
  }

  [[nodiscard]] bool samples() const { return settings_.python != PythonMode::kExact; }
  [[nodiscard]] const char* mode_word() const {
    if (!samples()) return "exact";
    return settings_.python == PythonMode::kWallTime ? "wall" : "sample";
  }
  [[nodiscard]] std::string cost_text() const;

  ProbeSettings settings_;
  std::string folder_;
  RecordStream* out_ = nullptr;
  NamespaceIds ids_;
  int64_t start_ns_ = 0, processes_ = 0, calls_ = 0, damaged_ = 0;
  int64_t samples_ = 0, sampled_ns_ = 0, cpu_ns_ = 0;
  int64_t max_call_ns_ = 0, cost_ns_ = 0, max_cost_bytes_ = 0;
  std::set<std::string> versions_;
};

Status PythonProbe::prepare(LaunchRequest& request) {
  if (request.command.empty())
    return Error{Code::kUnsupported, "the Python profile begins with a program's start",
                 "start it here: fathom run --probe python -- COMMAND"};
  TRY(find_installed(kStartUp));
  TRY_ASSIGN(const std::string library, find_installed(kFolder));
  TRY_ASSIGN(folder_, make_scratch_folder("python", 01777));
  std::string path = request.share(library, false);
  std::string before;
  for (const std::string& setting : request.environment)
    if (setting.starts_with("PYTHONPATH=")) before = setting.substr(11);
  const char* inherited = std::getenv("PYTHONPATH");
  if (before.empty() && !request.container && inherited != nullptr) before = inherited;
  if (!before.empty()) path += ":" + before;
  request.environment.push_back("PYTHONPATH=" + path);
  request.environment.push_back("FATHOM_PYTHON_FOLDER=" + request.share(folder_, true));
  request.environment.push_back(fmt::format("FATHOM_PYTHON={}", mode_word()));
  add_seccomp_filters(request);
  if (!settings_.rates_hz.empty())
    request.environment.push_back(fmt::format("FATHOM_PYTHON_HZ={}", settings_.rates_hz[0]));
  return {};
}

void PythonProbe::take_function(const PythonFunction& function, ThreadId thread, int64_t now_ns) {
  Counter counter;
  counter.slice_ns = start_ns_;
  counter.slice_length_ns = now_ns - start_ns_;
  counter.thread = thread;
  counter.layer = out_->string("python");
  counter.name = out_->string(printable(function.name));
  if (!function.file.empty())
    counter.file = out_->string(fmt::format("{}:{}", printable(function.file), function.line));
  counter.count = function.calls;
  counter.time_ns = function.inclusive_ns;
  counter.self_time_ns = function.exclusive_ns;
  const DetailItem item{out_->string("subroutines"), function.subroutines};
  counter.detail = out_->names().detail({&item, 1});
  out_->add(counter);
  calls_ += function.calls;
}

void PythonProbe::take_stack(const PythonStack& stack, const PythonProfile& profile,
                             int64_t now_ns) {
  StackId id = StackId::kNone;
  for (const std::string& name : stack.frames) {
    Frame frame;
    frame.symbol = out_->string(printable(name));
    frame.kind = FrameKind::kPython;
    id = out_->names().stack(id, out_->names().frame(frame));
  }
  Sample sample;
  sample.time_ns = now_ns;
  sample.thread = thread_of(profile, stack.tid);
  sample.event = out_->string(profile.wall_time ? kWallEvent : kCpuEvent);
  sample.weight = stack.time_ns / stack.count;
  sample.rate_hz = static_cast<int64_t>(profile.rate_hz);
  sample.stack = id;
  const int64_t count = std::min(stack.count, kMostLooks);
  for (int64_t i = 0; i < count; ++i) out_->add(sample);
  samples_ += count;
  add_saturating(sampled_ns_, stack.time_ns);
}

void PythonProbe::take(const PythonProfile& profile, int64_t now_ns) {
  ++processes_;
  versions_.insert(profile.version);
  add_saturating(cpu_ns_, profile.cpu_ns.value_or(0));
  add_saturating(cost_ns_, profile.cost_ns);
  max_call_ns_ = std::max(max_call_ns_, profile.call_ns);
  max_cost_bytes_ = std::max(max_cost_bytes_, profile.cost_bytes);
  for (const PythonThread& thread : profile.threads) {
    const ThreadId id = thread_of(profile, thread.tid);
    PythonFunction whole;
    whole.name = kApplication;
    whole.calls = 1;
    whole.subroutines = thread.top_calls;
    whole.inclusive_ns = whole.exclusive_ns = thread.inclusive_ns;
    int64_t inside_ns = 0;
    for (const PythonFunction& function : thread.functions) inside_ns += function.exclusive_ns;
    whole.exclusive_ns = std::max<int64_t>(0, thread.inclusive_ns - inside_ns);
    take_function(whole, id, now_ns);
    for (const PythonFunction& function : thread.functions) take_function(function, id, now_ns);
  }
  for (const PythonStack& stack : profile.stacks) take_stack(stack, profile, now_ns);
}

void PythonProbe::finish(int64_t now_ns) {
  std::error_code error;
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string path = entry.path();
    if (path.ends_with(".new") || !entry.is_regular_file(error) || ++count > kMostProfiles)
      continue;
    const auto text = read_file(path);
    const auto profile =
        text.ok() ? parse_python_profile(text.value()) : Result<PythonProfile>(text.error());
    if (profile.ok())
      take(profile.value(), now_ns);
    else
      ++damaged_;
  }
}

// What the profile itself took, as each process measured it.
std::string PythonProbe::cost_text() const {
  const std::string memory = fmt::format("{} of memory in {}", format_bytes(max_cost_bytes_),
                                         processes_ == 1 ? "the process" : "the process with most");
  if (samples())
    return fmt::format("sampling took {} of CPU time and {}", format_duration_ns(cost_ns_), memory);
  return fmt::format(
      "counting added about {} ({} per call, measured when the program started) and {}: compare "
      "times "
      "with each other, not with runs without it",
      format_duration_ns(cost_ns_), format_duration_ns(max_call_ns_), memory);
}

ProbeReport PythonProbe::report() const {
  ProbeReport report;
  report.rung = samples() ? "start-up file, samples by a thread of the interpreter"
                          : "start-up file, every call by sys.monitoring (3.12 and later) or "
                            "sys.setprofile";
  report.settings = counted(processes_, "process", "processes");
  if (!versions_.empty()) report.settings += " of Python " + first_few(versions_, 3);
  if (settings_.python == PythonMode::kCpuTime)
    report.settings += "; CPU time: threads that wait or sleep have no samples";
  if (settings_.python == PythonMode::kWallTime)
    report.settings += "; wall time: threads that wait or sleep have samples, too";
  report.seen = samples() ? samples_ : calls_;
  report.dropped = damaged_;
  const auto add = [&report](const std::string& text) {
    report.why += (report.why.empty() ? "" : "; ") + text;
  };
  if (processes_ == 0)
    add("no Python program loaded the start-up file (-I, -E and -S leave it out)");
  if (damaged_ > 0) add(counted(damaged_, "malformed profile", "malformed profiles"));
  if (settings_.python == PythonMode::kCpuTime &&
      static_cast<double>(sampled_ns_) < kMinCoverage * static_cast<double>(cpu_ns_))
    add(
        fmt::format("samples cover {} of {} of CPU time: the rest is of threads that ended between "
                    "two looks or that Python does not know",
                    format_duration_ns(sampled_ns_), format_duration_ns(cpu_ns_)));
  if (processes_ > 0) add(cost_text());
  if (const std::string missing = ids_.missing(); !missing.empty()) add(missing);
  return report;
}

}  // namespace

std::unique_ptr<Probe> make_python_probe(const ProbeSettings& settings) {
  return std::make_unique<PythonProbe>(settings);
}

std::vector<Rung> examine_python() {
  Rung rung{"start-up file: Python programs that are started here, 3.8 and later",
            Rung::State::kWorks,
            {},
            {}};
  Status works = load_simdjson();
  if (const auto found = find_installed(kStartUp); !found.ok()) works = found.error();
  return {rung_if(std::move(rung), works)};
}

}  // namespace fathom
