// SPDX-License-Identifier: Apache-2.0
#include "probe/io/io_probe.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/install.h"
#include "base/text.h"
#include "probe/io/coverage.h"
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
  void tick(int64_t /*now_ns*/) override {
    folder_->drain(*records_);
    coverage_.look(*target_, *folder_);
  }
  void finish(int64_t /*now_ns*/) override { folder_->finish(*records_); }
  [[nodiscard]] ProbeReport report() const override;

 private:
  ProbeSettings settings_;
  const Target* target_ = nullptr;
  std::unique_ptr<SpoolFolder> folder_;
  std::unique_ptr<SpoolRecords> records_;
  Coverage coverage_;
};

Status IoProbe::prepare(LaunchRequest& request) {
  if (request.command.empty())
    return Error{Code::kUnsupported, "the I/O library goes into a program when it is started",
                 "start it here: fathom run --probe io -- COMMAND"};
  TRY_ASSIGN(const std::string library,
             find_installed(settings_.memory_calls ? kWithMalloc : kLibrary));
  TRY_ASSIGN(folder_, SpoolFolder::make());
  const bool trace = settings_.io == IoMode::kTrace;
  add_preload(request, library);
  for (std::string& variable :
       folder_->environment(mode_name(settings_.io), monotonic_ns(), settings_.interval_ns,
                            trace ? kTraceChunks : kProfileChunks))
    request.environment.push_back(std::move(variable));
  return {};
}

Status IoProbe::start(const Target& target, RecordStream& out) {
  target_ = &target;
  records_ = std::make_unique<SpoolRecords>(out, "c");
  return {};
}

ProbeReport IoProbe::report() const {
  ProbeReport report;
  report.rung = "library in the target (libc)";
  report.settings = mode_name(settings_.io);
  report.seen = records_->calls();
  report.dropped = folder_->lost();
  report.why = coverage_.text();
  const auto add = [&report](const std::string& text) {
    report.why += (report.why.empty() ? "" : "; ") + text;
  };
  if (folder_->spools_seen() == 0)
    add("nothing loaded the library: the program is static, setuid or not of glibc");
  if (report.dropped > 0)
    add(format_count(report.dropped) + " calls were lost: the recorder came too late");
  if (folder_->damaged() > 0)
    add(fmt::format("{} places in spools make no sense", folder_->damaged()));
  return report;
}

}  // namespace

std::unique_ptr<Probe> make_io_probe(const ProbeSettings& settings) {
  return std::make_unique<IoProbe>(settings);
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
  return {rung};
}

}  // namespace fathom
