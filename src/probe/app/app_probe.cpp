// SPDX-License-Identifier: Apache-2.0
#include "probe/app/app_probe.h"

#include <fmt/format.h>
#include <signal.h>

#include "base/clock.h"
#include "base/simdjson.h"
#include "base/text.h"
#include "probe/app/app_socket.h"
#include "probe/metric_records.h"
#include "probe/quiet_wake.h"

namespace fathom {
namespace {

constexpr int64_t kMostDrainNs = 20 * kNsPerMs;  // others wait meanwhile

class AppProbe final : public Probe {
 public:
  Status prepare(LaunchRequest& request) override;
  Status start(const Target& target, RecordStream& out) override;
  void begin(int64_t now_ns) override { records_->begin(now_ns); }
  void tick(int64_t now_ns) override { wake(now_ns); }
  [[nodiscard]] std::vector<int> wake_fds() const override {
    return socket_ ? std::vector{wake_.fd()} : std::vector<int>{};
  }
  void wake(int64_t now_ns) override;
  void finish(int64_t now_ns) override;
  [[nodiscard]] ProbeReport report() const override;

 private:
  void take(std::string_view line, int64_t pid, int64_t now_ns);
  [[nodiscard]] AppSocket::Take taker(int64_t now_ns) {
    return [this, now_ns](std::string_view line, int64_t pid) { take(line, pid, now_ns); };
  }

  std::unique_ptr<AppSocket> socket_;  // none for what runs already
  QuietWake wake_;
  MetricReader reader_;
  std::unique_ptr<MetricRecords> records_;
  int64_t first_pid_ = 0;  // of whoever spoke first
  bool one_after_another_ = false;
  int64_t bad_lines_ = 0;
};

Status AppProbe::prepare(LaunchRequest& request) {
  if (request.command.empty()) return {};
  TRY_ASSIGN(socket_, AppSocket::listen());
  TRY(wake_.watch(socket_->event_fd()));
  request.environment.push_back(
      fmt::format("{}={}", kAppSocketVariable, request.share(socket_->path(), true)));
  return {};
}

Status AppProbe::start(const Target& target, RecordStream& out) {
  one_after_another_ = !target.scope().reaped;
  records_ = std::make_unique<MetricRecords>(out);
  return {};
}

// One process is the application; where there are more, the others are told apart.
void AppProbe::take(std::string_view line, int64_t pid, int64_t now_ns) {
  if (first_pid_ == 0) first_pid_ = pid;
  // The steps of a container follow each other: the next is the application, too.
  if (pid != first_pid_ && one_after_another_ && kill(static_cast<pid_t>(first_pid_), 0) != 0)
    first_pid_ = pid;
  if (pid == first_pid_) {
    records_->source("app", now_ns);
    if (!reader_.read_json(line, *records_)) ++bad_lines_;
    return;
  }
  const std::string scope = fmt::format("app {}", pid);
  records_->source(scope, now_ns);
  if (!reader_.read_json(line, *records_)) ++bad_lines_;
}

void AppProbe::wake(int64_t now_ns) {
  if (!socket_ || !wake_.due()) return;
  wake_.looked(socket_->drain(kMostDrainNs, taker(now_ns)));
}

void AppProbe::finish(int64_t now_ns) {
  if (!socket_) return;
  socket_->drain(kMostDrainNs, taker(now_ns));  // in the order they came
  socket_->hang_up(taker(now_ns));
}

ProbeReport AppProbe::report() const {
  ProbeReport report;
  report.rung = socket_ ? "socket" : "none: what runs already does not know of the socket";
  report.seen = records_->told();
  if (!socket_) return report;
  report.settings = fmt::format("connections: {}", socket_->accepted());
  report.dropped = bad_lines_ + socket_->too_long() + socket_->refused() + records_->lost();
  const auto add = [&report](int64_t count, const char* what) {
    if (count == 0) return;
    report.why +=
        fmt::format("{}{}: {}", report.why.empty() ? "" : "; ", what, format_count(count));
  };
  if (bad_lines_ > 0 && !load_simdjson().ok()) report.why = load_simdjson().error().message;
  add(bad_lines_, "lines that make no sense as metrics");
  add(socket_->too_long(), "lines longer than 64 KiB");
  add(socket_->refused(), "connections refused, too many at a time");
  add(records_->lost(), "values the application could not send");
  add(records_->wrong_times(),
      "values with a time outside the run, for which that of arrival was taken");
  return report;
}

}  // namespace

std::unique_ptr<Probe> make_app_probe(const ProbeSettings& /*settings*/) {
  return std::make_unique<AppProbe>();
}

std::vector<Rung> examine_app() {
  Rung rung{"socket: values that programs started here push", Rung::State::kWorks, {}, {}};
  Status works = load_simdjson();
  if (works.ok()) {
    if (auto socket = AppSocket::listen(); !socket.ok()) works = std::move(socket).error();
  }
  return {rung_if(std::move(rung), works)};
}

}  // namespace fathom
