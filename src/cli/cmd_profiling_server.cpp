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
  TRY_ASSIGN(plan.hub.store,
             store_address(arguments.text("store"), "", arguments.text("store-password-file")));
  TRY_ASSIGN(plan.hub.token, read_token(arguments.text("token-file")));
  plan.legacy_clients = arguments.text("legacy-clients");
  plan.creates_token = true;
  return serve_as(plan);
}

constexpr Flag kProfilingServerFlags[] = {
    FATHOM_SEED_FLAGS,
    {.name = "store", .value = "URL", .help = "keep jobs in redis://[user@]host:port/db"},
    {.name = "store-password-file",
     .value = "FILE",
     .help = "read the password of the store from FILE; else FATHOM_REDIS_PASSWORD",
     .completes = "file"},
    {.name = "legacy-clients",
     .value = "CIDR",
     .help = "accept the profiling-framework's original clients, which send no token, from these "
             "address ranges, e.g. 10.0.0.0/8; without a token: this machine's"},
};

}  // namespace

extern constinit const Command kProfilingServerCommand = {
    .name = "profiling-server",
    .group = "Hub",
    .summary = "The server of seed 001: a hub in the current folder",
    .description =
        "The same as `fathom serve --data .`, by the name and flags that people know. Beyond this "
        "machine it creates a token in ./fathom-token, unless one is given, and prints what "
        "clients need.\n\n"
        "    mkdir data && cd data && profiling-server --bind 127.0.0.1 --port 10000",
    .flags = kProfilingServerFlags,
    .run = run_profiling_server,
    .hidden = true,
};

}  // namespace fathom
