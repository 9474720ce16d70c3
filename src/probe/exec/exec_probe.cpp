// SPDX-License-Identifier: Apache-2.0
#include "probe/exec/exec_probe.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include "base/text.h"
#include "probe/exec/exec_program.h"
#include "probe/metric_records.h"
#include "probe/quiet_wake.h"

namespace fathom {
namespace {

class ExecProbe final : public Probe {
 public:
  explicit ExecProbe(const ProbeSettings& settings) : commands_(settings.programs) {}

  Status prepare(LaunchRequest& request) override;
  Status start(const Target& target, RecordStream& out) override;
  void begin(int64_t now_ns) override { records_->begin(now_ns); }
  void tick(int64_t now_ns) override { wake(now_ns); }
  [[nodiscard]] std::vector<int> wake_fds() const override { return {wake_.fd()}; }
  void wake(int64_t now_ns) override;
  void finish(int64_t now_ns) override;
  [[nodiscard]] ProbeReport report() const override;

 private:
  Status watch(const ExecProgram& program) const;
  // For the program at this place.
  [[nodiscard]] ExecProgram::Take taker(size_t place, int64_t now_ns);

  std::vector<std::string> commands_;
  std::vector<std::unique_ptr<ExecProgram>> programs_;
  Fd events_;
  QuietWake wake_;
  MetricReader reader_;
  std::unique_ptr<MetricRecords> records_;
  int64_t bad_lines_ = 0;
};

Status ExecProbe::prepare(LaunchRequest& /*request*/) {
  if (!commands_.empty()) return {};
  return Error{Code::kInvalid, "no program was named", "fathom run --exec 'PROGRAM' -- COMMAND"};
}

Status ExecProbe::start(const Target& target, RecordStream& out) {
  records_ = std::make_unique<MetricRecords>(out);
  events_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  if (!events_.valid()) return errno_error("watch programs");
  TRY(wake_.watch(events_.get()));
  for (const std::string& command : commands_) {
    TRY_ASSIGN(auto program,
               ExecProgram::start(command, {fmt::format("FATHOM_PID={}", target.pid())}));
    TRY(watch(*program));
    programs_.push_back(std::move(program));
  }
  return {};
}

// Edge by edge: a pipe whose program has ended stays ready for ever.
Status ExecProbe::watch(const ExecProgram& program) const {
  for (const int fd : {program.output_fd(), program.error_fd()}) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    if (epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      return errno_error("watch a program");
  }
  return {};
}

ExecProgram::Take ExecProbe::taker(size_t place, int64_t now_ns) {
  return [this, place, now_ns](std::string_view line) {
    const std::string scope = place == 0 ? "exec" : fmt::format("exec {}", place + 1);
    records_->source(scope, now_ns);
    const bool good = line.starts_with('{') ? reader_.read_json(line, *records_)
                                            : MetricReader::read_words(line, *records_);
    if (!good) ++bad_lines_;
  };
}

void ExecProbe::wake(int64_t now_ns) {
  if (!wake_.due()) return;
  epoll_event event{};
  while (epoll_wait(events_.get(), &event, 1, 0) > 0) {
  }
  bool any = false;
  for (size_t i = 0; i < programs_.size(); ++i) any = programs_[i]->read(taker(i, now_ns)) || any;
  wake_.looked(any);
}

void ExecProbe::finish(int64_t now_ns) {
  for (size_t i = 0; i < programs_.size(); ++i) programs_[i]->end(taker(i, now_ns));
}

ProbeReport ExecProbe::report() const {
  ProbeReport report;
  report.rung = fmt::format("programs: {}", programs_.size());
  report.seen = records_->told();
  int64_t too_long = 0, cpu_ns = 0;
  const auto add = [&report](const std::string& what) {
    if (!what.empty()) report.why += (report.why.empty() ? "" : "; ") + what;
  };
  for (const auto& program : programs_) {
    report.settings += (report.settings.empty() ? "" : "; ") + program->command();
    too_long += program->too_long();
    cpu_ns += program->cpu_ns();
    add(program->failure());
  }
  if (cpu_ns > 0) report.rung += ", which took " + format_duration_ns(cpu_ns) + " of CPU";
  report.dropped = bad_lines_ + too_long + records_->lost();
  if (bad_lines_ > 0) add("lines that make no sense: " + format_count(bad_lines_));
  if (too_long > 0) add("lines longer than 64 KiB: " + format_count(too_long));
  return report;
}

}  // namespace

std::unique_ptr<Probe> make_exec_probe(const ProbeSettings& settings) {
  return std::make_unique<ExecProbe>(settings);
}

std::vector<Rung> examine_exec() {
  return {{"programs that print `name value unit` or JSON lines: --exec 'PROGRAM'",
           Rung::State::kWorks,
           {},
           {}}};
}

}  // namespace fathom
