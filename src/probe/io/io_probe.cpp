// SPDX-License-Identifier: Apache-2.0
#include "probe/io/io_probe.h"

#include <fmt/format.h>

#include <filesystem>
#include <future>
#include <optional>
#include <random>

#include "base/bpf.h"
#include "base/clock.h"
#include "base/install.h"
#include "base/perf_event.h"
#include "base/text.h"
#include "probe/io/call_stacks.h"
#include "probe/io/coverage.h"
#include "probe/io/hook_plan.h"
#include "probe/io/kernel_calls.h"
#include "probe/io/kernel_layers.h"
#include "probe/io/kernel_types.h"
#include "probe/io/probe_set.h"
#include "probe/preload.h"
#include "spool/spool_folder.h"
#include "spool/spool_records.h"

namespace fathom {
namespace {

constexpr const char* kLibrary = "lib/libfathom-io.so";
constexpr const char* kWithMalloc = "lib/libfathom-io-malloc.so";
constexpr int64_t kProfileChunks = 2'048;  // 64 MB at most, taken as needed
constexpr int64_t kTraceChunks = 16'384;
// A change of what a process maps may be told a little after its time: younger stacks wait.
constexpr int64_t kSettleNs = 5 * kNsPerMs;

const char* mode_name(IoMode mode) {
  switch (mode) {
    case IoMode::kProfile:
      return "profile";
    case IoMode::kTrace:
      return "trace";
    case IoMode::kCount:
      return "count";
  }
  return "profile";
}

// The probe set, where there is one; layers that are named beside it go before its own.
Result<ProbeSet> asked_for(const std::string& layers, const std::string& probe_set) {
  ProbeSet set;
  if (!probe_set.empty()) {
    TRY_ASSIGN(set, read_probe_set(probe_set));
  }
  if (probe_set.empty() || !layers.empty()) {
    TRY_ASSIGN(set.layers, layers_from(layers));
  }
  return set;
}

class IoProbe final : public Probe {
 public:
  explicit IoProbe(const ProbeSettings& settings) : settings_(settings) {}

  Status prepare(LaunchRequest& request) override;
  void load() override;
  Status start(const Target& target, RecordStream& out) override;
  void tick(int64_t now_ns) override;
  [[nodiscard]] std::vector<int> wake_fds() const override;
  void wake(int64_t now_ns) override;
  void stop() override { kernel_->stop(); }
  [[nodiscard]] bool has_stop() const override { return kernel_ != nullptr; }
  void finish(int64_t now_ns) override;
  [[nodiscard]] std::vector<int> bpf_programs() const override {
    return kernel_ ? kernel_->bpf_programs() : std::vector<int>();
  }
  [[nodiscard]] ProbeReport report() const override;

 private:
  Status prepare_library(LaunchRequest& request);
  void mark_own_calls(LaunchRequest& request, const std::string& library);
  [[nodiscard]] KernelCallSettings kernel_settings() const;
  Status start_kernel(const Target& target, RecordStream& out);
  void report_library(ProbeReport& report) const;
  void report_kernel(ProbeReport& report) const;
  [[nodiscard]] std::vector<std::string> path_prefixes() const;
  [[nodiscard]] std::string settings_text() const;

  ProbeSettings settings_;
  ProbeSet set_;
  const Target* target_ = nullptr;
  int64_t slice_base_ns_ = 0;
  // What tells the library's own system calls and files from the program's.
  uint64_t own_mark_ = 0;
  std::vector<std::string> own_files_;
  // The half in the target; nullptr: not asked for, or there is no program to put it into.
  NamespaceIds ids_;
  std::unique_ptr<SpoolFolder> folder_;
  std::unique_ptr<SpoolRecords> records_;
  Coverage coverage_;
  // The half in the kernel; nullptr: not asked for, or `no_kernel_` says why.
  std::unique_ptr<CallStacks> stacks_;  // of traced calls; nullptr: not asked for
  std::optional<Result<std::unique_ptr<KernelCalls>>> loaded_;  // by load()
  Fd held_events_;
  std::unique_ptr<KernelCalls> kernel_;
  std::unique_ptr<KernelRecords> kernel_records_;
  std::string no_kernel_, no_library_;
};

Status IoProbe::prepare(LaunchRequest& request) {
  TRY_ASSIGN(set_, asked_for(settings_.io_layers, settings_.probe_set));
  slice_base_ns_ = monotonic_ns();
  if (!set_.layers.has("c")) return {};
  if (!request.command.empty()) return prepare_library(request);
  if (set_.wants_kernel()) {
    no_library_ = "no calls of the C library: the program ran already";
    return {};
  }
  return Error{Code::kUnsupported, "the I/O library goes into a program when it is started",
               "start it here: fathom run --probe io -- COMMAND"};
}

Status IoProbe::prepare_library(LaunchRequest& request) {
  TRY_ASSIGN(const std::string library,
             find_installed(settings_.memory_calls ? kWithMalloc : kLibrary));
  TRY_ASSIGN(folder_, SpoolFolder::make());
  const bool trace = settings_.io == IoMode::kTrace;
  add_preload(request, library);
  for (std::string& variable : folder_->environment(
           request.share(folder_->path(), true), mode_name(settings_.io), slice_base_ns_,
           settings_.interval_ns, trace ? kTraceChunks : kProfileChunks))
    request.environment.push_back(std::move(variable));
  if (set_.wants_kernel()) mark_own_calls(request, library);
  return {};
}

// The kernel leaves out calls with the mark (inject/core/raw.h), which no program has by chance,
// and we what the loader does to the library's file, or a layer below to the spools.
void IoProbe::mark_own_calls(LaunchRequest& request, const std::string& library) {
  std::random_device random;
  own_mark_ = uint64_t{random()} << 32 | random() | 1;
  request.environment.push_back(fmt::format("FATHOM_MARK={}", own_mark_));
  std::error_code error;
  // Also libraries of other probes, which lie beside it.
  const auto libraries = [](const std::filesystem::path& path) {
    return path.empty() ? "" : (path.parent_path() / "libfathom-").string();
  };
  own_files_ = {libraries(std::filesystem::canonical(library, error)),
                libraries(request.share(library, false)), folder_->path() + "/",
                request.share(folder_->path(), true) + "/"};
  std::erase(own_files_, "");
}

std::vector<std::string> IoProbe::path_prefixes() const {
  std::vector<std::string> prefixes = set_.path_prefixes;
  if (!settings_.path_prefix.empty()) prefixes.push_back(settings_.path_prefix);
  return prefixes;
}

// Mode and filters are read by report/io_profile.cpp: the mode is first, filters are last.
std::string IoProbe::settings_text() const {
  std::vector<std::string> parts = {mode_name(settings_.io)};
  if (stacks_) parts.emplace_back("stacks");
  parts.push_back("layers " + join(set_.layers.names, " "));
  if (!set_.captures.empty())
    parts.push_back(fmt::format("{} patterns of a probe set", set_.captures.size()));
  parts.push_back("interval " + format_duration_ns(settings_.interval_ns));
  if (kernel_ && !settings_.io_files) parts.emplace_back("no files in the kernel");
  if (folder_ && settings_.memory_calls) parts.emplace_back("malloc");
  std::vector<std::string> filters;
  if (settings_.least_duration_ns > 0)
    filters.push_back("min-duration " + format_duration_ns(settings_.least_duration_ns));
  if (settings_.least_bytes > 0)
    filters.push_back(fmt::format("min-bytes {}", settings_.least_bytes));
  for (const std::string& prefix : path_prefixes()) filters.push_back("path " + prefix);
  return join(parts, ", ") +
         (kernel_ && !filters.empty() ? "; filters: " + join(filters, ", ") : "");
}

KernelCallSettings IoProbe::kernel_settings() const {
  KernelCallSettings settings;
  settings.trace = settings_.io == IoMode::kTrace;
  settings.files = settings_.io_files;
  settings.own_mark = own_mark_;
  settings.interval_ns = settings_.interval_ns;
  settings.slice_base_ns = slice_base_ns_;
  settings.least_duration_ns = settings_.least_duration_ns;
  settings.least_bytes = settings_.least_bytes;
  settings.layers = set_.layers;
  settings.captures = set_.captures;
  return settings;
}

// Stacks need the target.
void IoProbe::load() {
  auto held = std::async(std::launch::async, hold_perf_events);
  if (set_.wants_kernel() && !settings_.io_stacks) loaded_ = KernelCalls::load(kernel_settings());
  held_events_ = held.get();
}

Status IoProbe::start_kernel(const Target& target, RecordStream& out) {
  if (loaded_) {
    TRY_ASSIGN(kernel_, std::move(*loaded_));
    if (Status attached = kernel_->attach(target); !attached.ok()) {
      kernel_.reset();
      return attached;
    }
  } else {
    KernelCallSettings settings = kernel_settings();
    if (settings_.io_stacks) {
      TRY_ASSIGN(stacks_, CallStacks::open(target, out, settings_.lines));
      settings.stacks = stacks_.get();
    }
    TRY_ASSIGN(kernel_, KernelCalls::open(target, settings));
  }
  kernel_records_ = std::make_unique<KernelRecords>(
      out, kernel_->functions(),
      KernelRecordSettings{slice_base_ns_, settings_.interval_ns, settings_.io != IoMode::kCount,
                           path_prefixes(), own_files_});
  return {};
}

Status IoProbe::start(const Target& target, RecordStream& out) {
  target_ = &target;
  if (const std::string why = target.facts().no_library; folder_ && !why.empty()) {
    no_library_ = "no calls of the C library: " + why;
    folder_.reset();
  }
  if (folder_) {
    records_ = std::make_unique<SpoolRecords>(out, "c");
    ids_.watch(&target);
    if (!target.scope().reaped) folder_->translate(ids_);
    coverage_.watch(target);
  }
  if (!set_.wants_kernel()) return {};
  auto started = start_kernel(target, out);
  if (started.ok()) return {};
  if (!folder_ && no_library_.empty()) return started;
  no_kernel_ = "no system calls: " + started.error().message;
  if (!started.error().hint.empty()) no_kernel_ += " (" + started.error().hint + ")";
  return {};
}

std::vector<int> IoProbe::wake_fds() const {
  std::vector<int> fds = coverage_.wake_fds();
  const auto add = [&fds](const std::vector<int>& more) {
    fds.insert(fds.end(), more.begin(), more.end());
  };
  if (kernel_) add(kernel_->wake_fds());
  if (kernel_ && stacks_) add(stacks_->wake_fds());
  return fds;
}

// A ring fills up: what is in it cannot wait for what may be told late. Names of files come first,
// so that what is as old as `now_ns` has one.
void IoProbe::wake(int64_t now_ns) {
  coverage_.drain(now_ns - kSettleNs);
  if (!kernel_) return;
  kernel_->drain(*kernel_records_);
  if (stacks_) stacks_->drain(*kernel_records_, now_ns);
}

void IoProbe::tick(int64_t now_ns) {
  if (folder_) {
    folder_->drain(*records_);
    coverage_.look(*target_, *folder_);
    coverage_.drain(now_ns - kSettleNs);
  }
  if (!kernel_) return;
  kernel_->adopt(*target_);
  kernel_->gather(now_ns);
  kernel_->drain(*kernel_records_);
  if (stacks_) stacks_->drain(*kernel_records_, now_ns - kSettleNs);
  kernel_records_->flush();
}

void IoProbe::finish(int64_t /*now_ns*/) {
  if (folder_) {
    folder_->finish(*records_);
    coverage_.finish(*folder_);
  }
  if (!kernel_) return;
  kernel_->finish(*kernel_records_);
  if (stacks_) stacks_->drain(*kernel_records_, INT64_MAX);
  kernel_records_->flush();
}

void add_why(ProbeReport& report, const std::string& text) {
  if (!text.empty()) report.why += (report.why.empty() ? "" : "; ") + text;
}

void IoProbe::report_library(ProbeReport& report) const {
  report.rung = "library in the target (libc)";
  report.seen += records_->calls();
  report.dropped += folder_->dropped();
  report.buffer_bytes += coverage_.buffer_bytes();
  add_why(report, coverage_.text());
  for (const std::string& text : folder_->missing()) add_why(report, text);
  add_why(report, ids_.missing());
}

void IoProbe::report_kernel(ProbeReport& report) const {
  report.rung += (report.rung.empty() ? "" : ", ") + kernel_->rung();
  report.seen += kernel_records_->calls();
  report.dropped += kernel_->dropped();
  report.buffer_bytes += kernel_->buffer_bytes();
  add_why(report, kernel_->missing());
  if (stacks_) {
    report.buffer_bytes += stacks_->buffer_bytes();
    add_why(report, stacks_->missing());
  }
  if (kernel_records_->damaged() > 0)
    add_why(report,
            fmt::format("{} records of the kernel make no sense", kernel_records_->damaged()));
}

ProbeReport IoProbe::report() const {
  ProbeReport report;
  report.settings = settings_text();
  if (folder_) report_library(report);
  if (kernel_) report_kernel(report);
  if (!set_.left_out.empty())
    add_why(report, "left out of the probe set: " + join(set_.left_out, ", "));
  add_why(report, no_library_);
  add_why(report, no_kernel_);
  return report;
}

// What of the layers below system calls this kernel has.
Rung layers_rung() {
  std::string names;
  size_t missing = 0, all = 0;
  std::string why;
  for (const IoLayer& layer : io_layers()) {
    if (layer.name == "c" || layer.name == "sys") continue;
    names += (names.empty() ? "" : ",") + std::string(layer.name);
  }
  const auto types = KernelTypes::load();
  if (!types.ok()) return {names, Rung::State::kCannot, types.error().message, types.error().hint};
  const auto note = [&](const std::string& hook, const std::string& reason) {
    ++all;
    if (reason.empty()) return;
    ++missing;
    why = hook + ": " + reason;
  };
  const auto everything = layers_from("all");
  for (const KernelProgram* program : wanted_programs(everything.value(), types.value().get()))
    note(program->hook, why_no_hook(*program, types.value().get()));
  const auto wishes = wish_hooks(everything.value(), {}, *types.value(), {});
  const auto attacher = try_hooks();
  for (const HookWish& wish : wishes.value())
    note(wish.name, attach_best(wish, *types.value(), *attacher).why);
  Rung rung{"BPF tracepoints and functions: layers " + names, Rung::State::kWorks, {}, {}};
  if (missing == 0) return rung;
  rung.state = Rung::State::kDegraded;
  rung.why = fmt::format("{} of {} places are not to be had, such as {}", missing, all, why);
  rung.unlock = "fathom run --plan --layers all";
  return rung;
}

}  // namespace

std::unique_ptr<Probe> make_io_probe(const ProbeSettings& settings) {
  return std::make_unique<IoProbe>(settings);
}

Result<std::string> io_plan(const std::string& layers, const std::string& probe_set) {
  TRY_ASSIGN(const ProbeSet set, asked_for(layers, probe_set));
  TRY(check_bpf());
  TRY_ASSIGN(std::string plan, kernel_plan(set.layers, set.captures));
  for (const std::string& text : set.left_out) plan += "left out: " + text + "\n";
  return plan;
}

std::vector<Rung> examine_io() {
  Rung rung{"library in the target: libc calls of programs that are started here, without root",
            Rung::State::kWorks,
            {},
            {}};
  if (const auto library = find_installed(kLibrary); !library.ok()) {
    rung.state = Rung::State::kCannot;
    rung.why = library.error().message;
    rung.unlock = library.error().hint;
  }
  Rung kernel{"BPF tracepoints: system calls of any program, also of one that runs already",
              Rung::State::kWorks,
              {},
              {}};
  if (const Status loaded = try_kernel_calls(); !loaded.ok()) {
    kernel.state = Rung::State::kCannot;
    kernel.why = loaded.error().message;
    kernel.unlock = loaded.error().hint;
    return {kernel, rung};
  }
  return {kernel, layers_rung(), rung};
}

}  // namespace fathom
