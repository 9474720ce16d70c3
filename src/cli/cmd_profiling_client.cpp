// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "cli/command.h"
#include "cli/hub_api.h"
#include "cli/seed_client.h"
#include "record/recording.h"
#include "sink/journal_shipper.h"

namespace fathom {
namespace {

// What recordings hold of what a hub is sent.
struct Shipped {
  int64_t samples = 0;
  std::set<std::pair<std::string, std::string>> nodes;

  // Of one that cannot be read nothing is counted; its data is on the hub all the same.
  void add(const std::string& folder) {
    const auto recording = Recording::open(folder);
    if (!recording.ok()) return;
    const auto collected = collect(recording.value(), tables_of<ProbeStatus, NodeSum>());
    if (!collected.ok()) return;
    const auto& all = *collected.value();
    for (const ProbeStatus& status : all.rows.of<ProbeStatus>())
      if (all.text(status.probe) == "stacks") samples += status.seen;
    for (const NodeSum& node : all.rows.of<NodeSum>())
      nodes.emplace(all.text(node.symbol), all.text(node.program));
  }
};

// `fathom run` ships as it records. What it could not deliver is delivered now, or the recording
// must be kept.
Status ensure_shipped(const HubTarget& target, const std::string& folder) {
  TRY_ASSIGN(const Recording recording, Recording::open(folder));
  TRY_ASSIGN(const auto collected, collect(recording, tables_of<Run>()));
  if (collected->rows.of<Run>().empty()) return Error{Code::kCorrupt, folder + ": contains no run"};
  const std::string run(collected->text(collected->rows.of<Run>().front().id));
  auto shipped = ship_journal(target, run, folder + "/" + kJournalName);
  if (shipped.ok()) return {};
  return std::move(shipped)
      .error()
      .within("not all of " + folder + " is on the server")
      .with_hint(fmt::format("ship the rest later: fathom send --hub {} --job {} --recording {}",
                             shell_quote(target.url), target.job, shell_quote(folder)));
}

Result<int> run_profiling_client(const Arguments& arguments) {
  TRY_ASSIGN(const auto commands, seed_commands(arguments));
  TRY_ASSIGN(const HubTarget target, seed_job(arguments));
  TRY_ASSIGN(const SeedEvents events, seed_events(arguments));
  TRY_ASSIGN(ClientFolder scratch, ClientFolder::make());
  std::vector<std::string> flags = {"--only",
                                    "--probe",
                                    "stacks",
                                    "--event",
                                    join(events.usable, ","),
                                    "--freq",
                                    arguments.text("freq"),
                                    "--hub",
                                    target.url,
                                    "--job",
                                    std::to_string(target.job),
                                    "--no-tables"};
  if (arguments.has("token-file"))
    flags.insert(flags.end(), {"--token-file", arguments.text("token-file")});
  Shipped shipped;
  return run_seed_commands(
      commands, target, arguments.has("ignore-failure"),
      [&](const SeedCommand& command) -> Result<int> {
        TRY_ASSIGN(const SeedRun run, run_recorded(command, flags, scratch.path()));
        const std::string folder = run.recording + kFolderSuffix;
        if (auto sent = ensure_shipped(target, folder); !sent.ok()) {
          scratch.keep();
          return std::move(sent).error();
        }
        shipped.add(folder);
        return run.status;
      },
      [&] {
        return fmt::format("{} samples in {} nodes", format_count(shipped.samples),
                           format_count(shipped.nodes.size()));
      });
}

constexpr Flag kProfilingClientFlags[] = {
    FATHOM_SEED_CLIENT_FLAGS,
    {.name = "freq", .value = "HZ", .help = "samples a second of CPU time", .fallback = "999"},
};

}  // namespace

extern constinit const Command kProfilingClientCommand = {
    .name = "profiling-client",
    .group = "Hub",
    .summary = "The profiling client of seed 001: functions of commands",
    .description =
        "Runs commands, samples them and adds what each function used to the sums of a job, as it "
        "comes.\n\n"
        "    profiling-client --jobid 2001 -- make\n"
        "    profiling-client --jobid 2001 --commands list.txt --prepend -O3",
    .flags = kProfilingClientFlags,
    .rest = Rest::kProgram,
    .run = run_profiling_client,
    .hidden = true,
};

}  // namespace fathom
