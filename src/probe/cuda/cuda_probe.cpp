// SPDX-License-Identifier: Apache-2.0
#include "probe/cuda/cuda_probe.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/install.h"
#include "base/text.h"
#include "probe/cuda/gpu_gauges.h"
#include "probe/preload.h"
#include "spool/cuda_records.h"
#include "spool/spool_folder.h"

namespace fathom {
namespace {

constexpr const char* kLibrary = "lib/libfathom-cuda.so";
constexpr const char* kSuffix = "_CUDA";
constexpr int64_t kChunks = 16'384;  // 512 MB at most, taken as needed
constexpr size_t kNamesShown = 5;

class CudaProbe final : public Probe {
 public:
  explicit CudaProbe(const ProbeSettings& settings) : settings_(settings) {}

  Status prepare(LaunchRequest& request) override;
  Status start(const Target& target, RecordStream& out) override;
  void tick(int64_t now_ns) override {
    folder_->drain(*records_);
    records_->join(false);
    gauges_.look(now_ns, *out_);
  }
  void finish(int64_t /*now_ns*/) override {
    folder_->finish(*records_);
    records_->join(true);
  }
  [[nodiscard]] ProbeReport report() const override;

 private:
  ProbeSettings settings_;
  RecordStream* out_ = nullptr;
  NamespaceIds ids_;
  std::unique_ptr<SpoolFolder> folder_;
  std::unique_ptr<CudaRecords> records_;
  GpuGauges gauges_;
  std::string no_library_;  // why it is not in the target
};

Status CudaProbe::prepare(LaunchRequest& request) {
  if (request.command.empty())
    return Error{Code::kUnsupported, "the CUDA library goes into a program when it is started",
                 "start it here: fathom run --probe cuda -- COMMAND"};
  TRY_ASSIGN(const std::string library, find_installed(kLibrary));
  TRY_ASSIGN(folder_, SpoolFolder::make());
  add_preload(request, library);
  for (std::string& variable :
       folder_->environment(request.share(folder_->path(), true), "trace", monotonic_ns(),
                            settings_.interval_ns, kChunks, kSuffix))
    request.environment.push_back(std::move(variable));
  if (settings_.gpu_times) request.environment.emplace_back("FATHOM_GPU_TIMES_CUDA=1");
  if (settings_.gpu_stacks)
    request.environment.push_back(fmt::format("FATHOM_STACKS{}=1", kSuffix));
  if (settings_.gpu_queries)
    request.environment.push_back(fmt::format("FATHOM_QUERIES{}=all", kSuffix));
  if (settings_.sample_launches > 1)
    request.environment.push_back(
        fmt::format("FATHOM_SAMPLE_LAUNCHES{}={}", kSuffix, settings_.sample_launches));
  return {};
}

Status CudaProbe::start(const Target& target, RecordStream& out) {
  out_ = &out;
  no_library_ = target.facts().no_library;
  records_ =
      std::make_unique<CudaRecords>(out, settings_.gpu_times && settings_.sample_launches <= 1);
  ids_.watch(&target);
  if (!target.scope().reaped) folder_->translate(ids_);
  gauges_.open();
  return {};
}

ProbeReport CudaProbe::report() const {
  ProbeReport report;
  report.rung = "library in the target (CUDA driver)";
  if (gauges_.devices() > 0) report.rung += fmt::format(", NVML ({} GPUs)", gauges_.devices());
  report.settings =
      settings_.sample_launches > 1
          ? fmt::format("one launch in {}, every other call", settings_.sample_launches)
          : "every call";
  report.seen = records_->calls();
  report.dropped = folder_->dropped();
  const auto add = [&report](const std::string& text) {
    report.why += (report.why.empty() ? "" : "; ") + text;
  };
  if (!gauges_.why().empty()) add("no figures of GPUs: " + gauges_.why());
  if (!records_->no_gpu_times().empty()) add("no times on the device: " + records_->no_gpu_times());
  if (!no_library_.empty()) add("no calls of the driver: " + no_library_);
  if (no_library_.empty())
    for (const std::string& text : folder_->missing()) add(text);
  if (records_->calls() == 0) add("no call of the CUDA driver was made");
  if (!records_->only_counted().empty())
    add("not in our list, only counted: " + first_few(records_->only_counted(), kNamesShown));
  if (!records_->not_wrapped().empty())
    add("looked up and not recorded: " + first_few(records_->not_wrapped(), kNamesShown));
  if (records_->leaks() > 0)
    add(fmt::format("{} in {} allocation{} not freed at exit",
                    format_bytes(records_->leaked_bytes()), format_count(records_->leaks()),
                    records_->leaks() == 1 ? "" : "s"));
  if (const std::string missing = ids_.missing(); !missing.empty()) add(missing);
  return report;
}

}  // namespace

std::unique_ptr<Probe> make_cuda_probe(const ProbeSettings& settings) {
  return std::make_unique<CudaProbe>(settings);
}

std::vector<Rung> examine_cuda() {
  Rung library{"library in the target: CUDA driver calls of programs that are started here",
               Rung::State::kWorks,
               {},
               {}};
  if (const auto found = find_installed(kLibrary); !found.ok()) {
    library.state = Rung::State::kCannot;
    library.why = found.error().message;
    library.unlock = found.error().hint;
  }
  Rung nvml{"NVML: what GPUs say of themselves", Rung::State::kWorks, {}, {}};
  GpuGauges gauges;
  gauges.open();
  if (!gauges.why().empty()) {
    nvml.state = Rung::State::kCannot;
    nvml.why = gauges.why();
    nvml.unlock = "install NVIDIA's driver, which brings libnvidia-ml.so.1";
  }
  return {library, nvml};
}

}  // namespace fathom
