// SPDX-License-Identifier: Apache-2.0
#include "probe/io/io_probe.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/install.h"
#include "base/text.h"
#include "probe/io/coverage.h"
#include "probe/io/preload.h"
#include "spool/spool_folder.h"

namespace fathom {
namespace {

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

class IoProbe final : public Probe, private SpoolListener {
 public:
  explicit IoProbe(const ProbeSettings& settings) : settings_(settings) {}

  Status prepare(LaunchRequest& request) override;
  Status start(const Target& target, RecordStream& out) override;
  void tick(int64_t /*now_ns*/) override {
    folder_->drain(*this);
    coverage_.look(*target_, *folder_);
  }
  void finish(int64_t /*now_ns*/) override { folder_->finish(*this); }
  [[nodiscard]] ProbeReport report() const override;

 private:
  void on_call(const SpoolCall& call) override;
  void on_cell(const SpoolCell& cell) override;
  StringId file_of(const SpoolOrigin& origin) {
    return origin.file.empty() ? StringId::kNone : out_->string(printable(origin.file));
  }

  ProbeSettings settings_;
  RecordStream* out_ = nullptr;
  const Target* target_ = nullptr;
  std::unique_ptr<SpoolFolder> folder_;
  Coverage coverage_;
  int64_t seen_ = 0;
};

Status IoProbe::prepare(LaunchRequest& request) {
  if (request.command.empty())
    return Error{Code::kUnsupported, "the I/O library goes into a program when it is started",
                 "start it here: fathom run --probe io -- COMMAND"};
  TRY_ASSIGN(const std::string library, find_installed("lib/libfathom-io.so"));
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
  out_ = &out;
  return {};
}

void IoProbe::on_call(const SpoolCall& call) {
  Span span;
  span.start_ns = call.start_ns;
  span.duration_ns = call.duration_ns;
  span.thread = out_->names().thread(call.origin.pid, call.origin.tid);
  span.layer = out_->string("c");
  span.name = out_->string(printable(call.origin.call));
  span.file = file_of(call.origin);
  if (call.has_bytes) span.bytes = call.failed ? 0 : call.value;
  if (call.abandoned) {
    const DetailItem item{out_->string("ended"), out_->string("abandoned")};
    span.detail = out_->names().detail({&item, 1});
  } else {
    span.result = call.failed ? -int64_t{call.error} : call.value;
  }
  ++seen_;
  out_->add(span);
}

void IoProbe::on_cell(const SpoolCell& cell) {
  Counter counter;
  counter.slice_ns = cell.slice_ns;
  counter.slice_length_ns = cell.slice_length_ns;
  counter.thread = out_->names().thread(cell.origin.pid, cell.origin.tid);
  counter.layer = out_->string("c");
  counter.name = out_->string(printable(cell.origin.call));
  counter.file = file_of(cell.origin);
  counter.count = cell.count;
  counter.errors = cell.errors;
  if (cell.has_bytes) counter.bytes = cell.bytes;
  if (cell.has_times) {
    counter.time_ns = cell.time_ns;
    counter.self_time_ns = cell.self_ns;
    counter.latency = out_->histogram(cell.latency);
  }
  seen_ += cell.count;
  out_->add(counter);
}

ProbeReport IoProbe::report() const {
  ProbeReport report;
  report.rung = "library in the target (libc)";
  report.settings = mode_name(settings_.io);
  report.seen = seen_;
  report.dropped = folder_->lost();
  report.why = coverage_.text();
  const auto add = [&report](const std::string& text) {
    report.why += (report.why.empty() ? "" : "; ") + text;
  };
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
  if (const auto library = find_installed("lib/libfathom-io.so"); !library.ok()) {
    rung.state = Rung::State::kCannot;
    rung.why = library.error().message;
    rung.unlock = library.error().hint;
  }
  return {rung};
}

}  // namespace fathom
