// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/file_mode.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/hub_api.h"
#include "cli/serve_settings.h"

namespace fathom {
namespace {

Result<int> run_serve(const Arguments& arguments) {
  TRY_ASSIGN(const ServeSettings settings, ServeSettings::load(arguments));
  ServePlan plan;
  plan.bind = settings.text("bind");
  plan.port = settings.text("port");
  plan.hub.data = settings.text("data");
  TRY_ASSIGN(plan.hub.file_mode, parse_file_mode(settings.text("mode")));
  TRY_ASSIGN(plan.hub.store, store_address(arguments.text("store"), settings.text("store"),
                                           settings.text("store-password-file")));
  TRY_ASSIGN(plan.hub.token, read_token(settings.text("token-file")));
  plan.legacy_clients = settings.text("legacy-clients");
  TRY_ASSIGN(plan.hub.patience_ns, settings.duration("patience"));
  TRY_ASSIGN(plan.hub.idle_ns, settings.duration("idle"));
  TRY_ASSIGN(plan.hub.header_ns, settings.duration("header-timeout"));
  TRY_ASSIGN(plan.hub.shutdown_ns, settings.duration("grace"));
  TRY_ASSIGN(const int64_t connections, settings.number("max-connections", 1, 1'000'000));
  TRY_ASSIGN(const int64_t per_peer, settings.number("max-per-peer", 0, 1'000'000));
  TRY_ASSIGN(const int64_t pending, settings.number("max-pending", 65, 1'000'000));
  TRY_ASSIGN(const int64_t threads, settings.number("threads", 0, 1024));
  plan.hub.most_connections = static_cast<size_t>(connections);
  plan.hub.max_per_peer =
      per_peer > 0 ? static_cast<size_t>(per_peer) : std::max<size_t>(1, connections / 4);
  plan.hub.most_pending_bytes = static_cast<size_t>(pending) << 20;
  plan.hub.threads = static_cast<int>(threads);
  const std::string log = settings.text("log");
  if (log == "json") set_log_form(LogForm::kJson);
  if (log != "json" && log != "text")
    return Error{Code::kInvalid, "--log " + log + " is no form", "text or json"};
  return serve_as(plan);
}

constexpr Flag kServeFlags[] = {
    {.name = "bind",
     .value = "ADDRESS",
     .help = "the address to listen at; beyond this machine a token is needed",
     .fallback = "127.0.0.1"},
    {.name = "port", .value = "PORT", .help = "the port; 0: any free one", .fallback = "10000"},
    {.name = "data",
     .value = "FOLDER",
     .help = "where jobs are kept",
     .fallback = "fathom-hub",
     .completes = "folder"},
    {.name = "mode",
     .value = "MODE",
     .help = "permissions of the data: 0600, 0640 (your group may read) or 0644 (all users may)",
     .fallback = "0600"},
    {.name = "store",
     .value = "URL",
     .help = "keep jobs in redis://[user@]host[:port][/db], which several hubs may share; else "
             "SQLite in "
             "the data folder"},
    {.name = "store-password-file",
     .value = "FILE",
     .help = "read the password of the store from FILE; else FATHOM_REDIS_PASSWORD",
     .completes = "file"},
    {.name = "token-file",
     .value = "FILE",
     .help = "ask every client for the token in this file, or in FATHOM_TOKEN",
     .completes = "file"},
    {.name = "legacy-clients",
     .value = "CIDR",
     .help = "accept the profiling-framework's original clients, which send no token, from these "
             "address ranges, e.g. 10.0.0.0/8; without a token: this machine's"},
    {.name = "config",
     .value = "FILE",
     .help = "lines `name = value` for flags not given; FATHOM_SERVE_NAME stands between the two",
     .completes = "file"},
    {.name = "log", .value = "FORM", .help = "lines on stderr: text or json", .fallback = "text"},
    {.name = "patience",
     .value = "TIME",
     .help = "how long ingest waits for a store that does not answer",
     .fallback = "30s",
     .group = "Limits"},
    {.name = "idle",
     .value = "TIME",
     .help = "how long a connection may say nothing",
     .fallback = "5m",
     .group = "Limits"},
    {.name = "header-timeout",
     .value = "TIME",
     .help = "how long the header of a request may take, and the first one to arrive",
     .fallback = "10s",
     .group = "Limits"},
    {.name = "grace",
     .value = "TIME",
     .help = "how long requests under way may take when the hub ends",
     .fallback = "10s",
     .group = "Limits"},
    {.name = "max-connections",
     .value = "N",
     .help = "connections at a time",
     .fallback = "10000",
     .group = "Limits"},
    {.name = "max-per-peer",
     .value = "N",
     .help = "connections of one address from which no request was admitted yet; 0: a quarter of "
             "--max-connections",
     .fallback = "0",
     .group = "Limits"},
    {.name = "max-pending",
     .value = "MB",
     .help = "bodies of requests in progress and events not yet read, together",
     .fallback = "256",
     .group = "Limits"},
    {.name = "threads",
     .value = "N",
     .help = "network threads; 0: one a core",
     .fallback = "0",
     .group = "Limits"},
};

}  // namespace

extern constinit const Command kServeCommand = {
    .name = "serve",
    .group = "Hub",
    .summary = "Run a hub: jobs, live sums and benchmark rows on one port",
    .description =
        "Takes profiling and benchmark data from any number of clients, adds it up as it comes and "
        "serves it: HTTP with JSON, live events, /metrics. What was acknowledged is on disk, and "
        "what is sent twice counts once.\n\n"
        "    fathom serve\n"
        "    fathom serve --store redis://127.0.0.1:6379/0\n"
        "    FATHOM_TOKEN=$(openssl rand -hex 32) fathom serve --bind 0.0.0.0",
    .flags = kServeFlags,
    .run = run_serve,
};

}  // namespace fathom
