// SPDX-License-Identifier: Apache-2.0
// What the commands of seed 001 share: where the server is, which commands to run where, and which
// events this machine can count. One thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "sink/hub_link.h"

namespace fathom {

// --bind, --port, and --jobid where it is given. The token is in FATHOM_TOKEN or --token-file.
Result<HubTarget> seed_target(const Arguments& arguments);
// The same, with a job that is there; if it is not, the error names CREATE.
Result<HubTarget> seed_job(const Arguments& arguments);

struct SeedCommand {
  std::string folder;  // empty: this one
  std::vector<std::string> words;
  std::string where = {};         // "FILE, line 3"; empty: the command line
  std::optional<Error> bad = {};  // the line makes no sense
};
// What stands after "--", or the lines of --commands: `DIR COMMAND…` or `cd DIR && COMMAND…`, each
// with --program and --prepend applied, --repeat times.
Result<std::vector<SeedCommand>> seed_commands(const Arguments& arguments);

struct SeedEvents {
  std::vector<std::string> usable;
  std::vector<std::string> missing;  // with why
};
// Those of --events that can be counted here; cpu-clock where one cannot. Says what is missing.
Result<SeedEvents> seed_events(const Arguments& arguments);

// A folder for recordings, gone with the object.
class ClientFolder {
 public:
  static Result<ClientFolder> make();
  ClientFolder(ClientFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ClientFolder& operator=(ClientFolder&&) = delete;
  ~ClientFolder();
  [[nodiscard]] const std::string& path() const { return path_; }
  // Does not remove it.
  void keep() { is_kept_ = true; }

 private:
  explicit ClientFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
  bool is_kept_ = false;
};

// Runs `fathom run` with these flags, in a folder for recordings that goes with it.
struct SeedRun {
  int status = 0;
  std::string recording;
};
Result<SeedRun> run_recorded(const SeedCommand& command, const std::vector<std::string>& flags,
                             const std::string& folder);

// Runs each command by `work`, which returns its exit status. The first whose status is not 0 is
// the last, unless `ignore_failure`. One that cannot be run is reported with its line and the rest
// continues, unless it is the only one. `summary` describes at the end what was sent to the job.
// Returns the exit status: that of a failure where a command failed or could not be run, else 0.
Result<int> run_seed_commands(const std::vector<SeedCommand>& commands, const HubTarget& target,
                              bool ignore_failure,
                              const std::function<Result<int>(const SeedCommand&)>& work,
                              const std::function<std::string()>& summary);

// Flags of all of them, and of both clients.
#define FATHOM_SEED_FLAGS                                                                         \
  {.name = "bind", .value = "ADDRESS", .help = "address of the server", .fallback = "127.0.0.1"}, \
      {.name = "port", .value = "PORT", .help = "port of the server", .fallback = "10000"}, {     \
    .name = "token-file", .value = "FILE",                                                        \
    .help = "the server's token, where FATHOM_TOKEN is not set", .completes = "file"              \
  }
#define FATHOM_SEED_CLIENT_FLAGS                                                                   \
  FATHOM_SEED_FLAGS, {.name = "jobid", .value = "JOB", .help = "the job, 2001 to 9999"},           \
      {.name = "commands",                                                                         \
       .value = "FILE",                                                                            \
       .help = "run these: lines `DIR COMMAND` or `cd DIR && COMMAND`; # starts a comment line",   \
       .completes = "file"},                                                                       \
      {.name = "events",                                                                           \
       .value = "LIST",                                                                            \
       .help = "what to count; cpu-clock where one cannot be",                                     \
       .fallback = "cache-misses:u,branch-misses:u,cpu-cycles:u",                                  \
       .list = true},                                                                              \
      {.name = "program", .value = "PATH", .help = "run this instead of each command's program"},  \
      {.name = "prepend", .value = "ARGS", .help = "put these before each command's arguments"},   \
      {.name = "repeat", .value = "N", .help = "run everything so many times", .fallback = "1"}, { \
    .name = "ignore-failure",                                                                      \
    .help = "continue after a command that exits with another status than 0"                       \
  }

}  // namespace fathom
