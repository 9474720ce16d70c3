// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "cli/command.h"
#include "cli/hub_api.h"
#include "cli/seed_client.h"

namespace fathom {
namespace {

Result<int> run_profiling_client(const Arguments& arguments) {
  TRY_ASSIGN(const auto commands, seed_commands(arguments));
  TRY_ASSIGN(const HubTarget target, seed_job(arguments));
  TRY_ASSIGN(const SeedEvents events, seed_events(arguments));
  const ClientFolder scratch;
  int worst = 0;
  for (const SeedCommand& command : commands) {
    for (const std::string& event : events.usable) {
      std::vector<std::string> flags = {"--only",
                                        "--probe",
                                        "stacks",
                                        "--event",
                                        event,
                                        "--freq",
                                        arguments.text("freq"),
                                        "--hub",
                                        target.url,
                                        "--job",
                                        std::to_string(target.job),
                                        "--no-tables"};
      if (arguments.has("token-file"))
        flags.insert(flags.end(), {"--token-file", arguments.text("token-file")});
      TRY_ASSIGN(const SeedRun run, run_recorded(command, flags, scratch.path()));
      worst = std::max(worst, run.status);
    }
  }
  if (worst != 0)
    log_warning("a command ended with status {}; what it did is on the server", worst);
  return 0;
}

constexpr Flag kFlags[] = {
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
        "comes. Each event is a run of its own.\n\n"
        "    profiling-client --jobid 2001 -- make\n"
        "    profiling-client --jobid 2001 --commands list.txt --prepend -O3",
    .flags = kFlags,
    .rest = Rest::kProgram,
    .run = run_profiling_client,
    .hidden = true,
};

}  // namespace fathom
