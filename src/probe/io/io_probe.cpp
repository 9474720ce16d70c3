// SPDX-License-Identifier: Apache-2.0
#include "probe/io/io_probe.h"

#include <fmt/format.h>

#include "base/bpf.h"
#include "base/clock.h"
#include "base/install.h"
#include "base/text.h"
#include "probe/io/coverage.h"
#include "probe/io/kernel_calls.h"
#include "probe/io/kernel_layers.h"
#include "probe/preload.h"
#include "spool/spool_folder.h"
#include "spool/spool_records.h"

namespace fathom {
namespace {

constexpr const char* kLibrary = "lib/libfathom-io.so";
constexpr const char* kWithMalloc = "lib/libfathom-io-malloc.so";
constexpr int64_t kProfileChunks = 2'048;  // 64 MB at most, taken as needed
constexpr int64_t kTraceChunks = 16'384;

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

class IoProbe final : public Probe {
 public:
  explicit IoProbe(const ProbeSettings& settings) : settings_(settings) {}

  Status prepare(LaunchRequest& request) override;
  Status start(const Target& target, RecordStream& out) override;
  void tick(int64_t now_ns) override;
  [[nodiscard]] std::vector<int> wake_fds() const override {
    return kernel_ ? kernel_->wake_fds() : std::vector<int>();
  }
  void wake(int64_t /*now_ns*/) override {
    if (kernel_) kernel_->drain(*kernel_records_);
  }
  void finish(int64_t now_ns) override;
  [[nodiscard]] ProbeReport report() const override;

 private:
  Status prepare_library(LaunchRequest& request);
  Status start_kernel(const Target& target, RecordStream& out);
  void report_library(ProbeReport& report) const;
  void report_kernel(ProbeReport& report) const;

  ProbeSettings settings_;
  LayerChoice layers_;
  const Target* target_ = nullptr;
  int64_t slice_base_ns_ = 0;
  // The half in the target; nullptr: not asked for, or there is no program to put it into.
  std::unique_ptr<SpoolFolder> folder_;
  std::unique_ptr<SpoolRecords> records_;
  Coverage coverage_;
  // The half in the kernel; nullptr: not asked for, or `no_kernel_` says why.
  std::unique_ptr<KernelCalls> kernel_;
  std::unique_ptr<KernelRecords> kernel_records_;
  std::string no_kernel_, no_library_;
};

Status IoProbe::prepare(LaunchRequest& request) {
  TRY_ASSIGN(layers_, layers_from(settings_.io_layers));
  slice_base_ns_ = monotonic_ns();
  if (!layers_.has("c")) return {};
  if (!request.command.empty()) return prepare_library(request);
  if (layers_.any_of_kernel()) {
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
  for (std::string& variable :
       folder_->environment(mode_name(settings_.io), slice_base_ns_, settings_.interval_ns,
                            trace ? kTraceChunks : kProfileChunks))
    request.environment.push_back(std::move(variable));
  return {};
}

Status IoProbe::start_kernel(const Target& target, RecordStream& out) {
  KernelCallSettings settings;
  settings.trace = settings_.io == IoMode::kTrace;
  settings.files = settings_.io_files;
  settings.interval_ns = settings_.interval_ns;
  settings.slice_base_ns = slice_base_ns_;
  settings.least_duration_ns = settings_.least_duration_ns;
  settings.least_bytes = settings_.least_bytes;
  settings.layers = layers_;
  TRY_ASSIGN(kernel_, KernelCalls::open(target, settings));
  kernel_records_ = std::make_unique<KernelRecords>(
      out, kernel_->functions(),
      KernelRecordSettings{slice_base_ns_, settings_.interval_ns, settings_.io != IoMode::kCount,
                           settings_.path_prefix});
  return {};
}

Status IoProbe::start(const Target& target, RecordStream& out) {
  target_ = &target;
  if (folder_) records_ = std::make_unique<SpoolRecords>(out, "c");
  if (!layers_.any_of_kernel()) return {};
  auto started = start_kernel(target, out);
  if (started.ok()) return {};
  if (!folder_) return started;
  no_kernel_ = "no system calls: " + started.error().message;
  if (!started.error().hint.empty()) no_kernel_ += " (" + started.error().hint + ")";
  return {};
}

void IoProbe::tick(int64_t now_ns) {
  if (folder_) {
    folder_->drain(*records_);
    coverage_.look(*target_, *folder_);
  }
  if (!kernel_) return;
  kernel_->adopt(*target_);
  kernel_->gather(now_ns);
  kernel_->drain(*kernel_records_);
}

void IoProbe::finish(int64_t /*now_ns*/) {
  if (folder_) folder_->finish(*records_);
  if (kernel_) kernel_->finish(*kernel_records_);
}

void add_why(ProbeReport& report, const std::string& text) {
  if (!text.empty()) report.why += (report.why.empty() ? "" : "; ") + text;
}

void IoProbe::report_library(ProbeReport& report) const {
  report.rung = "library in the target (libc)";
  report.seen += records_->calls();
  report.dropped += folder_->lost();
  add_why(report, coverage_.text());
  if (folder_->spools_seen() == 0)
    add_why(report, "nothing loaded the library: the program is static, setuid or not of glibc");
  if (folder_->lost() > 0)
    add_why(report, format_count(folder_->lost()) + " calls were lost: the recorder came too late");
  if (folder_->damaged() > 0)
    add_why(report, fmt::format("{} places in spools make no sense", folder_->damaged()));
}

void IoProbe::report_kernel(ProbeReport& report) const {
  report.rung += (report.rung.empty() ? "" : ", ") + kernel_->rung();
  report.seen += kernel_records_->calls();
  report.dropped += kernel_->dropped();
  report.buffer_bytes += kernel_->buffer_bytes();
  add_why(report, kernel_->missing());
  if (kernel_records_->damaged() > 0)
    add_why(report,
            fmt::format("{} records of the kernel make no sense", kernel_records_->damaged()));
}

ProbeReport IoProbe::report() const {
  ProbeReport report;
  report.settings = mode_name(settings_.io);
  if (folder_) report_library(report);
  if (kernel_) report_kernel(report);
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
  for (const KernelProgram& program : kernel_programs()) {
    const HookState state = try_hook(program);
    ++all;
    if (state.can) continue;
    ++missing;
    why = std::string(program.hook) + ": " + state.why;
  }
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

Result<std::string> io_plan(std::string_view layers) {
  TRY_ASSIGN(const LayerChoice choice, layers_from(layers));
  TRY(check_bpf());
  return kernel_plan(choice);
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
