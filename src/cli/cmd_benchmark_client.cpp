// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/hub_api.h"
#include "cli/line_sender.h"
#include "cli/seed_client.h"
#include "record/recording.h"

namespace fathom {
namespace {

// {"benchmark":{"time":…,"exit_status":…,"cache-misses":…}} of a recording; events that were not
// counted are absent.
Result<std::string> row_of(const std::string& folder, const SeedEvents& events) {
  TRY_ASSIGN(const Recording recording, Recording::open(folder));
  TRY_ASSIGN(const auto collected, collect(recording, tables_of<Run, EventCount>()));
  if (collected->rows.of<Run>().empty()) return Error{Code::kCorrupt, "nothing was recorded"};
  const Run& run = collected->rows.of<Run>().front();
  if (!run.end_ns) return Error{Code::kCorrupt, "the run has no end"};
  std::string row = fmt::format("{{\"benchmark\":{{\"time\":{:.6f}",
                                static_cast<double>(*run.end_ns - run.start_ns) / 1e9);
  // Of a command that was killed as shells have it; unknown where the recorder lost it.
  if (run.exit_status) row += fmt::format(",\"exit_status\":{}", *run.exit_status);
  if (run.exit_signal) row += fmt::format(",\"exit_status\":{}", 128 + *run.exit_signal);
  std::string units;
  for (const EventCount& count : collected->rows.of<EventCount>()) {
    const std::string name(collected->text(count.name));
    const bool wanted =
        std::find(events.usable.begin(), events.usable.end(), name) != events.usable.end();
    if (!wanted || !count.count) continue;
    row += fmt::format(",{}:{}", json_quote(name), *count.count);
    units += fmt::format("{}{}:{}", units.empty() ? "" : ",", json_quote(name),
                         json_quote(collected->text(count.unit)));
  }
  return fmt::format("{},\"units\":{{{}}}}}}}\n", row, units);
}

Result<int> run_benchmark_client(const Arguments& arguments) {
  TRY_ASSIGN(const auto commands, seed_commands(arguments));
  TRY_ASSIGN(const HubTarget target, seed_job(arguments));
  TRY_ASSIGN(const SeedEvents events, seed_events(arguments));
  TRY_ASSIGN(LineSender sender, LineSender::make(target, new_sender_name("benchmark")));
  TRY_ASSIGN(const ClientFolder scratch, ClientFolder::make());
  const std::vector<std::string> flags = {"--only", "--counters", join(events.usable, ","),
                                          "--no-tables"};
  TRY_ASSIGN(const int status,
             run_seed_commands(
                 commands, target, arguments.has("ignore-failure"),
                 [&](const SeedCommand& command) -> Result<int> {
                   TRY_ASSIGN(const SeedRun run, run_recorded(command, flags, scratch.path()));
                   TRY_ASSIGN(const std::string row, row_of(run.recording + kFolderSuffix, events));
                   TRY(sender.send(row));
                   return run.status;
                 },
                 [&] {
                   const int64_t rows = sender.lines() - sender.bad();
                   return fmt::format("{} row{}", rows, rows == 1 ? "" : "s");
                 }));
  return sender.bad() > 0 ? kExitFailure : status;
}

constexpr Flag kBenchmarkClientFlags[] = {FATHOM_SEED_CLIENT_FLAGS};

}  // namespace

extern constinit const Command kBenchmarkClientCommand = {
    .name = "benchmark-client",
    .group = "Hub",
    .summary = "The benchmark client of seed 001: time and counts",
    .description =
        "Runs commands and appends a row for each to the benchmark data of a job: its run time, "
        "its "
        "exit status, and the count of each event. The first command that fails is the last, "
        "unless "
        "--ignore-failure is given.\n\n"
        "    benchmark-client --jobid 2001 --repeat 5 -- ./app\n"
        "    benchmark-client --jobid 2001 --commands list.txt --events page-faults",
    .flags = kBenchmarkClientFlags,
    .rest = Rest::kProgram,
    .run = run_benchmark_client,
    .hidden = true,
};

}  // namespace fathom
