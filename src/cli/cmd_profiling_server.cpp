// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "cli/hub_api.h"
#include "cli/seed_client.h"
#include "cli/serve_settings.h"

namespace fathom {
namespace {

Result<int> run_profiling_server(const Arguments& arguments) {
  ServePlan plan;
  plan.bind = arguments.text("bind");
  plan.port = arguments.text("port");
  plan.hub.data = ".";  // as the seed's server has it
  plan.hub.store = arguments.text("store");
  TRY_ASSIGN(plan.hub.token, read_token(arguments.text("token-file")));
  return serve_as(plan);
}

constexpr Flag kFlags[] = {
    FATHOM_SEED_FLAGS,
    {.name = "store", .value = "URL", .help = "keep jobs in redis://host:port/db"},
};

}  // namespace

extern constinit const Command kProfilingServerCommand = {
    .name = "profiling-server",
    .group = "Hub",
    .summary = "The server of seed 001: a hub in the current folder",
    .description =
        "The same as `fathom serve --data .`, by the name and flags that people know.\n\n"
        "    mkdir data && cd data && profiling-server --bind 127.0.0.1 --port 10000",
    .flags = kFlags,
    .run = run_profiling_server,
    .hidden = true,
};

}  // namespace fathom
