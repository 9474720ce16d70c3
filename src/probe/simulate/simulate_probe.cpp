// SPDX-License-Identifier: Apache-2.0
#include "probe/simulate/simulate_probe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/clock.h"
#include "base/fd.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "probe/simulate/simulated_sums.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCosts = "callgrind.";  // then the pid
constexpr const char* kLog = "log.";
constexpr size_t kMostBytes = size_t{1} << 30;  // of one process's figures

// Where a shell would find it; empty: nowhere.
std::string find_program(const std::string& name, const std::string& folder = {}) {
  const auto runs = [&](const std::string& path) {
    const fs::path whole = folder.empty() ? fs::path(path) : fs::path(folder) / path;
    std::error_code failed;
    return access(whole.c_str(), X_OK) == 0 && !fs::is_directory(whole, failed);
  };
  if (name.find('/') != std::string::npos) return runs(name) ? name : "";
  const char* path = std::getenv("PATH");
  for (const std::string_view part : split_words(path == nullptr ? "/usr/bin:/bin" : path, ':'))
    if (runs(std::string(part) + "/" + name)) return std::string(part) + "/" + name;
  return {};
}

// Of this machine's processor as the kernel says; 0: it does not.
double clock_hz() {
  constexpr std::string_view kKey = "cpu MHz";
  const auto text = read_file("/proc/cpuinfo");
  const size_t at = text.ok() ? text.value().find(kKey) : std::string::npos;
  if (at == std::string::npos) return 0;
  const size_t colon = text.value().find(':', at);
  return colon == std::string::npos ? 0 : std::atof(text.value().c_str() + colon + 1) * 1e6;
}

class SimulateProbe final : public Probe {
 public:
  ~SimulateProbe() override {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  Status prepare(LaunchRequest& request) override;
  Status start(const Target& /*target*/, RecordStream& out) override {
    out_ = &out;
    return {};
  }
  void begin(int64_t now_ns) override { begin_ns_ = now_ns; }
  void tick(int64_t /*now_ns*/) override {}
  void departed(const Departure& departure) override {
    cpu_ns_ += departure.user_ns + departure.system_ns;
  }
  void finish(int64_t now_ns) override;
  [[nodiscard]] ProbeReport report() const override;

 private:
  void read_all();
  [[nodiscard]] std::string slow_down() const;

  std::string folder_;
  RecordStream* out_ = nullptr;
  SimulatedSums sums_;
  int64_t begin_ns_ = 0, cpu_ns_ = 0, files_ = 0, unreadable_ = 0, logs_ = 0;
};

Status SimulateProbe::prepare(LaunchRequest& request) {
  if (request.container)
    return Error{Code::kUnsupported, "--simulate starts programs of this machine, not of an image",
                 "leave out --simulate, or run the program without --image"};
  if (request.command.empty())
    return Error{Code::kUnsupported, "what runs already cannot be simulated",
                 "start it here: fathom run --simulate -- COMMAND"};
  const std::string valgrind = find_program("valgrind");
  if (valgrind.empty())
    return Error{Code::kUnsupported, "valgrind is not installed", "apt-get install valgrind"};
  // Valgrind would say so into a file.
  if (find_program(request.command[0], request.cwd).empty())
    return Error{Code::kCommandNotFound,
                 request.command[0] + ": there is no such program to simulate"};
  // Programs that run as somebody else write here too.
  TRY_ASSIGN(folder_, make_scratch_folder("simulate", 01733));
  const std::vector<std::string> before = {
      valgrind,
      "--tool=callgrind",
      "--cache-sim=yes",
      "--branch-sim=yes",
      "--trace-children=yes",
      fmt::format("--callgrind-out-file={}/{}%p", folder_, kCosts),
      fmt::format("--log-file={}/{}%p", folder_, kLog)};
  request.command.insert(request.command.begin(), before.begin(), before.end());
  return {};
}

void SimulateProbe::read_all() {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder_, failed)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(kLog)) ++logs_;
    if (!name.starts_with(kCosts) || !entry.is_regular_file(failed)) continue;
    if (entry.file_size(failed) == 0) continue;  // made at the start, filled at the end
    ++files_;
    const auto text = read_file(entry.path(), kMostBytes);
    auto costs = text.ok() ? parse_callgrind(text.value()) : Result<CallgrindFile>(text.error());
    if (costs.ok())
      sums_.add(costs.value());
    else
      ++unreadable_;
  }
}

void SimulateProbe::finish(int64_t now_ns) {
  read_all();
  sums_.write(*out_, begin_ns_, now_ns);
}

std::string SimulateProbe::slow_down() const {
  const double hz = clock_hz();
  const double cycles = sums_.estimated_cycles();
  if (hz <= 0 || cycles <= 0 || cpu_ns_ <= 0)
    return "how much slower it made the command is not known";
  const double plain_ns = cycles / hz * 1e9;
  return fmt::format(
      "the command took about {:.0f} times as long: {} of CPU time where {} are estimated for it "
      "alone (some {:.3g} cycles for its instructions, misses and mispredictions at {:.1f} "
      "GHz)",
      static_cast<double>(cpu_ns_) / plain_ns, format_duration_ns(cpu_ns_),
      format_duration_ns(static_cast<int64_t>(plain_ns)), cycles, hz / 1e9);
}

ProbeReport SimulateProbe::report() const {
  ProbeReport report;
  report.rung = "valgrind --tool=callgrind";
  report.settings = "caches and branches, children followed";
  report.seen = sums_.processes();
  report.dropped = unreadable_;
  report.why =
      "instructions, caches and branches are simulated by Valgrind, in user mode; time and memory "
      "are those under it; " +
      slow_down();
  if (logs_ > files_)
    report.why += fmt::format("; {} of {} processes left no figures: they were killed",
                              logs_ - files_, logs_);
  if (unreadable_ > 0) report.why += fmt::format("; {} files make no sense", unreadable_);
  if (!sums_.agrees()) report.why += "; functions do not add up to Valgrind's own totals";
  return report;
}

}  // namespace

std::unique_ptr<Probe> make_simulate_probe(const ProbeSettings& /*settings*/) {
  return std::make_unique<SimulateProbe>();
}

std::vector<Rung> examine_simulate() {
  Rung rung{"instructions, caches and branches per function, simulated by Valgrind",
            Rung::State::kWorks,
            {},
            {}};
  if (find_program("valgrind").empty()) {
    rung.state = Rung::State::kCannot;
    rung.why = "valgrind is not installed";
    rung.unlock = "apt-get install valgrind";
  }
  return {rung};
}

}  // namespace fathom
