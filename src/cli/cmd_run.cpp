// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"
#include "base/file_mode.h"
#include "base/log.h"
#include "base/text.h"
#include "base/text_style.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/hub_api.h"
#include "cli/leftovers.h"
#include "cli/progress_line.h"
#include "cli/run_flags.h"
#include "cli/run_hub.h"
#include "cli/run_results.h"
#include "cli/run_target.h"
#include "cli/terminal.h"
#include "probe/io/io_probe.h"
#include "probe/io/probe_set.h"
#include "probe/probe.h"
#include "record/recording.h"
#include "report/report.h"
#include "session/folder.h"
#include "session/held_interrupts.h"
#include "session/metrics_server.h"
#include "session/session.h"
#include "wire/stacks.h"

namespace fathom {
namespace {

constexpr int kExitTimeout = 124;
constexpr int kExitNotExecutable = 126;
constexpr int kExitNotFound = 127;
constexpr int64_t kShortestInterval = 1'000'000;
// A smaller journal is read as fast as tables; making them would take longer than a short run.
constexpr int64_t kMaxJournalBytes = 4'000'000;

// Whether a flag was given that means this probe.
bool is_meant(const ProbeInfo& probe, const Arguments& arguments) {
  return std::any_of(probe.flags.begin(), probe.flags.end(),
                     [&](const char* flag) { return flag != nullptr && arguments.has(flag); });
}

std::optional<PythonMode> python_mode(std::string_view probe) {
  if (probe == "python=exact") return PythonMode::kExact;
  if (probe == "python=sample") return PythonMode::kCpuTime;
  if (probe == "python=wall") return PythonMode::kWallTime;
  return std::nullopt;
}

// Those that are always on, and those asked for.
Result<std::vector<const ProbeInfo*>> chosen_probes(const Arguments& arguments) {
  std::vector<const ProbeInfo*> probes;
  for (const ProbeInfo& probe : all_probes()) {
    const bool usual = probe.on_by_default && !arguments.has("only");
    if (usual || is_meant(probe, arguments)) probes.push_back(&probe);
  }
  if (!arguments.has("probe")) return probes;
  for (const std::string& name : arguments.list("probe")) {
    const std::string base = name.substr(0, name.find('='));
    TRY_ASSIGN(const ProbeInfo* probe, find_probe(base == "python" ? base : name));
    if (base != name && !python_mode(name))
      return Error{Code::kInvalid, "invalid value for --probe: '" + name + "'",
                   "--probe python, --probe python=sample or --probe python=wall"};
    if (std::find(probes.begin(), probes.end(), probe) == probes.end()) probes.push_back(probe);
  }
  return probes;
}

// A time limit; 0 where none was given.
Result<int64_t> limit_from(const Arguments& arguments, const char* flag) {
  if (!arguments.has(flag)) return 0;
  TRY_ASSIGN(const int64_t limit_ns, arguments.duration(flag));
  if (limit_ns > 0) return limit_ns;
  return Error{Code::kInvalid, std::string("--") + flag + " must be more than nothing",
               std::string("--") + flag + " 10s"};
}

Result<std::vector<int64_t>> rates_from(const Arguments& arguments) {
  std::vector<int64_t> rates_hz;
  for (const std::string& text : arguments.list("freq")) {
    const auto rate_hz = parse_number(text);
    if (!rate_hz.ok() || rate_hz.value() <= 0) {
      return Error{Code::kInvalid, "--freq " + text + " is not a rate",
                   "--freq 99: samples a second of CPU time; --freq 99,444,999: several at once"};
    }
    if (std::find(rates_hz.begin(), rates_hz.end(), rate_hz.value()) == rates_hz.end())
      rates_hz.push_back(rate_hz.value());
  }
  if (!rates_hz.empty() && rates_hz.size() <= kWireMostSamplers) return rates_hz;
  return Error{Code::kInvalid,
               fmt::format("--freq takes 1 to {} rates", static_cast<int>(kWireMostSamplers)),
               "--freq 99,444,999"};
}

Result<int64_t> sample_from(const Arguments& arguments) {
  const auto one_in = parse_number(arguments.text("sample-launches"));
  if (one_in.ok() && one_in.value() > 0 && one_in.value() <= 1'000'000) return one_in.value();
  return Error{
      Code::kInvalid,
      "--sample-launches " + arguments.text("sample-launches") + " is not a number of them",
      "--sample-launches 100: one in a hundred"};
}

IoMode io_mode_from(const Arguments& arguments) {
  const std::string mode = arguments.text("io");
  if (mode == "trace") return IoMode::kTrace;
  return mode == "count" ? IoMode::kCount : IoMode::kProfile;
}

// Only that probe knows who is left when the command has ended.
Status check_wait_all(const std::vector<const ProbeInfo*>& probes) {
  const auto follows = [](const ProbeInfo* probe) {
    return std::string_view(probe->name) == "resources";
  };
  if (std::any_of(probes.begin(), probes.end(), follows)) return {};
  return Error{Code::kInvalid, "--wait-all needs the probe resources", "--probe resources"};
}

// Which calls of the kernel are worth tracing.
Status read_trace_filters(const Arguments& arguments, ProbeSettings& settings) {
  for (const char* flag : {"min-duration", "min-bytes", "path", "io-stacks"}) {
    if (arguments.has(flag) && settings.io != IoMode::kTrace)
      return Error{Code::kInvalid, std::string("--") + flag + " is for traced calls",
                   std::string("add --io trace, or leave out --") + flag};
  }
  settings.path_prefix = arguments.text("path");
  settings.io_stacks = arguments.has("io-stacks");
  if (arguments.has("min-duration")) {
    TRY_ASSIGN(settings.least_duration_ns, arguments.duration("min-duration"));
  }
  if (!arguments.has("min-bytes")) return {};
  TRY_ASSIGN(settings.least_bytes, arguments.number("min-bytes"));
  if (settings.least_bytes >= 0) return {};
  return Error{Code::kInvalid, "--min-bytes is not a number of bytes", "--min-bytes 4096"};
}

// As given; else as the probe set has it, else the longest that serves the probes.
Result<int64_t> interval_from(const Arguments& arguments,
                              const std::vector<const ProbeInfo*>& probes) {
  if (arguments.has("probe-set") && !arguments.has("interval")) {
    TRY_ASSIGN(const ProbeSet set, read_probe_set(arguments.text("probe-set")));
    if (set.interval_ns > 0) return set.interval_ns;
  }
  if (!arguments.has("interval")) return longest_tick_ns(probes);
  return arguments.duration("interval");
}

Result<SessionOptions> options_from(const Arguments& arguments, RunTarget target) {
  SessionOptions options;
  options.launcher = target.launcher;
  options.request = std::move(target.request);
  options.label = arguments.has("label") ? arguments.text("label") : target.name;
  TRY_ASSIGN(options.probes, chosen_probes(arguments));
  TRY_ASSIGN(options.settings.interval_ns, interval_from(arguments, options.probes));
  TRY_ASSIGN(options.grace_ns, arguments.duration("grace"));
  TRY_ASSIGN(options.duration_ns, limit_from(arguments, "duration"));
  TRY_ASSIGN(options.timeout_ns, limit_from(arguments, "timeout"));
  if (options.settings.interval_ns < kShortestInterval) {
    return Error{Code::kInvalid, "--interval " + arguments.text("interval") + " is too short",
                 "1ms is the shortest"};
  }
  TRY_ASSIGN(options.settings.rates_hz, rates_from(arguments));
  options.settings.events = arguments.list("event");
  options.settings.lines = arguments.has("lines");
  options.settings.io = io_mode_from(arguments);
  options.settings.memory_calls = arguments.has("malloc");
  options.settings.io_layers = join(arguments.texts("layers"), ",");
  options.settings.probe_set = arguments.text("probe-set");
  options.settings.io_files = !arguments.has("no-files");
  TRY(read_trace_filters(arguments, options.settings));
  options.settings.counters = join(arguments.texts("counters"), ",");
  options.settings.gpu_times = arguments.has("gpu-times");
  options.settings.gpu_queries = arguments.has("gpu-queries");
  options.settings.gpu_stacks = arguments.has("gpu-stacks");
  TRY_ASSIGN(options.settings.sample_launches, sample_from(arguments));
  options.settings.per_thread = arguments.has("per-thread");
  options.settings.programs = arguments.texts("exec");
  for (const std::string& probe : arguments.list("probe"))
    if (const auto mode = python_mode(probe)) options.settings.python = *mode;
  options.wait_all = arguments.has("wait-all");
  if (options.wait_all) TRY(check_wait_all(options.probes));
  return options;
}

Result<std::string> folder_for(const Arguments& arguments, const std::string& name) {
  TRY_ASSIGN(const unsigned mode, parse_file_mode(arguments.text("mode")));
  auto folder = make_run_folder(arguments.text("output"), {name}, mode);
  if (folder.ok() || folder.error().code != Code::kExists) return folder;
  for (const std::string& recovered :
       recover_left_behind(run_folder_name(arguments.text("output")))) {
    log_info("{} was left by a killed run; it has been recovered", recovered);
  }
  return folder;
}

void show_summary(const std::string& folder, const Arguments& arguments) {
  if (arguments.has("quiet")) return;
  ReportOptions options;
  options.out = stderr;
  options.columns = terminal_columns(STDERR_FILENO);
  options.colours = colours_wanted(STDERR_FILENO);
  if (isatty(STDERR_FILENO) != 0)
    fmt::print(stderr, "\n");  // the command may have left the line open
  const auto recording = Recording::open(folder);
  Status shown = recording.ok() ? all_reports().front().write(recording.value(), options)
                                : Status(recording.error());
  if (!shown.ok()) log_failure(shown.error());
}

// Whether the tables are to be made at the end of the run. Tables say of a journal that could not
// be completed what is missing.
bool wants_tables(const Arguments& arguments, const SinkReport& journal) {
  if (arguments.has("no-tables")) return false;
  return arguments.has("tables") || journal.error || journal.bytes > kMaxJournalBytes;
}

// After the target has ended: the summary, the tables if wanted, and what to do next.
void wrap_up(const std::string& folder, const Arguments& arguments, bool tables) {
  show_summary(folder, arguments);
  if (tables) {
    if (auto made = make_tables(folder); !made.ok()) log_failure(made.error(), LogLevel::kWarning);
  }
  if (!arguments.has("no-tables")) {
    for (const std::string& recovered : recover_left_behind(folder)) {
      log_info("{} was left by a killed run; it has been recovered", recovered);
    }
  }
  if (!arguments.has("quiet"))
    (void)write_all(STDERR_FILENO,
                    fmt::format("  {0} → fathom report {0} · fathom query {0} overview\n", folder));
}

int exit_status(const SessionResult& result) {
  if (result.reason == EndReason::kTimeout) return kExitTimeout;
  if (result.reason == EndReason::kLost) return kExitOurs;
  if (result.reason == EndReason::kDuration || result.attached)
    return result.sink.error ? kExitOurs : 0;
  if (result.interrupted_by != 0) return 128 + result.interrupted_by;
  if (WIFSIGNALED(result.status)) return 128 + WTERMSIG(result.status);
  const int status = WEXITSTATUS(result.status);
  return status == 0 && result.sink.error ? kExitOurs : status;
}

int status_for(const Error& error) {
  if (error.code == Code::kInterrupted) return 128 + SIGINT;
  if (error.code == Code::kCommandNotFound) return kExitNotFound;
  return error.code == Code::kCommandNotExecutable ? kExitNotExecutable : kExitOurs;
}

// A mode that was requested does not depend on the umask. Tables get that of the journal.
Status set_mode(const std::string& journal, const Arguments& arguments) {
  if (!arguments.has("mode")) return {};
  TRY_ASSIGN(const unsigned mode, parse_file_mode(arguments.text("mode")));
  if (chmod(journal.c_str(), mode) != 0) return errno_error("change permissions of " + journal);
  return {};
}

// An error only where the command failed: a shell may survive the process that was killed.
void report_out_of_memory(const SessionResult& result, const std::string& folder) {
  if (exit_status(result) == 0)
    log_warning("the kernel killed a process of the target: out of memory; the target survived");
  else
    log_error("the kernel killed a process of the target: out of memory");
  log_hint("fathom report {} --as sizing shows what it needs; --limit memory= raises the limit",
           folder);
}

Result<int> record(SessionOptions& options, const std::string& folder, const Arguments& arguments,
                   RunHub& hub, const RunResults& results) {
  const std::string run = new_run_id();
  const std::string journal = folder + "/" + kJournalName;
  auto sink = open_sink("file", journal);
  Status begun = sink.ok() ? set_mode(journal, arguments) : Status(sink.error());
  if (begun.ok()) begun = hub.begin(run, journal);
  if (!begun.ok()) {
    drop_run_folder(folder);
    log_failure(begun.error());
    return kExitOurs;
  }
  ProgressLine line(arguments.has("quiet") ? ProgressLine::Mode::kOff
                                           : ProgressLine::mode_for(arguments.text("progress")));
  options.on_progress = [&line](const Progress& progress) { line.show(progress); };
  options.on_warning = [](const Error& error) { log_failure(error, LogLevel::kWarning); };
  options.on_note = [](const std::string& note) { log_info("{}", note); };
  const HeldInterrupts interrupts;
  options.holds_interrupts = interrupts.held();
  log_debug("recording into {}; the target is that of launcher {}", folder, options.launcher->name);
  auto result = run_session(options, run, *sink.value());
  sink.value().reset();
  line.clear();
  if (!result.ok()) {
    drop_run_folder(folder);
    log_failure(result.error());
    return status_for(result.error());
  }
  if (result.value().reason == EndReason::kLost) {
    log_error("fathom-spawn was killed: the command goes on, but is no longer recorded");
  }
  if (result.value().out_of_memory) report_out_of_memory(result.value(), folder);
  const SinkReport& report = result.value().sink;
  if (report.error) {
    log_error("{} records could not be written: {}", report.dropped_records, report.error->message);
    log_hint("what was written before is whole: fathom report {}", folder);
  }
  const bool shipped = hub.end(folder);
  wrap_up(folder, arguments, shipped && wants_tables(arguments, report));
  remove_leftovers_of_killed_recorders();
  const int status = exit_status(result.value());
  if (!results.wanted() || results.write(folder)) return status;
  return status == 0 ? kExitOurs : status;
}

// Serves the figures while it runs, where that is asked for.
Result<std::unique_ptr<MetricsServer>> serve_metrics(const Arguments& arguments,
                                                     SessionOptions& options) {
  if (!arguments.has("metrics-listen")) return std::unique_ptr<MetricsServer>();
  const std::string address = arguments.text("metrics-listen");
  TRY_ASSIGN(const std::string token, read_token(arguments.text("token-file")));
  TRY_ASSIGN(auto server, MetricsServer::start(address, token));
  log_info("metrics are at {}", server->url());
  options.on_rows = [raw = server.get()](const Rows& rows, const Dictionary& names) {
    raw->take(rows, names);
  };
  return server;
}

Result<int> run_run(const Arguments& arguments) {
  if (arguments.has("plan")) {
    TRY_ASSIGN(const std::string plan,
               io_plan(join(arguments.texts("layers"), ","), arguments.text("probe-set")));
    TRY(print_out(plan));
    return 0;
  }
  TRY_ASSIGN(RunTarget target, run_target_from(arguments));
  const std::string name = target.name;
  TRY_ASSIGN(SessionOptions options, options_from(arguments, std::move(target)));
  TRY_ASSIGN(const auto server, serve_metrics(arguments, options));
  TRY_ASSIGN(RunHub hub, RunHub::from(arguments));
  TRY_ASSIGN(const RunResults results, RunResults::from(arguments));
  SetAside replaced;
  if (arguments.has("force")) {
    if (!arguments.has("output"))
      return Error{Code::kInvalid, "--force goes with a name",
                   "fathom run -o NAME --force -- COMMAND"};
    auto moved = SetAside::make(run_folder_name(arguments.text("output")));
    if (!moved.ok()) {
      log_failure(moved.error());
      return kExitOurs;
    }
    replaced = std::move(moved).value();
  }
  auto folder = folder_for(arguments, name);
  if (!folder.ok()) {
    log_failure(folder.error());
    return kExitOurs;
  }
  return record(options, folder.value(), arguments, hub, results);
}

}  // namespace

extern constinit const Command kRunCommand = {
    .name = "run",
    .group = "Record",
    .summary = "Run a command and record where time and resources go",
    .description =
        "Records the command with all its children and threads, shows progress on a terminal and a "
        "summary on "
        "stderr. The command's own output is untouched, signals are passed on to it, and its exit "
        "status is "
        "ours (125: fathom itself failed or its flags are wrong, 126: the command cannot be "
        "executed, 127: it was not found, 124: --timeout).\n\n"
        "With --pid, --cgroup or --system it attaches to what runs already and leaves it alone: "
        "Ctrl-C, --duration or the target's end stop the recording, and the exit status is 0.\n\n"
        "With --image it runs in a container of the Docker or Podman engine of this machine, which "
        "is removed when it ends; the image stays as it is, and in the usual way executes its own "
        "entrypoint with the arguments given.\n\n"
        "    fathom run -- make -j2\n"
        "    fathom run -o nightly -i 50ms -- ./server --port 8000\n"
        "    fathom run --duration 30s -- redis-server\n"
        "    fathom run --duration 10s --pid $(pidof nginx | tr ' ' ,)\n"
        "    fathom run --image app --dataset ./images --limit cpus=2,memory=1g",
    .flags = kRunFlags,
    .rest = Rest::kProgram,
    .run = run_run,
};

}  // namespace fathom
