// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/log.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/hub_api.h"
#include "cli/line_sender.h"
#include "cli/newest.h"
#include "sink/journal_shipper.h"

namespace fathom {
namespace {

constexpr size_t kEnough = size_t{1} << 20;  // bytes worth a batch
constexpr size_t kMostLine = size_t{60} << 20;
constexpr int kPauseMs = 200;  // lines wait no longer for others

// Gives what stdin says to `sender` line by line, gathered.
Status send_input(LineSender& sender) {
  std::string waiting;
  std::array<char, 65536> room;
  for (bool ended = false; !ended;) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const size_t whole = waiting.rfind('\n') + 1;  // npos + 1 is 0
    const int came = poll(&input, 1, whole > 0 ? kPauseMs : -1);
    if (came < 0 && errno == EINTR) continue;
    ssize_t got = -1;
    if (came > 0) {
      got = read(STDIN_FILENO, room.data(), room.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno_error("read stdin");
      ended = got == 0;
      waiting.append(room.data(), static_cast<size_t>(got));
    }
    const size_t lines = ended ? waiting.size() : waiting.rfind('\n') + 1;
    if (waiting.size() - lines > kMostLine)
      return Error{Code::kInvalid, fmt::format("line {} is longer than {}", sender.lines() + 1,
                                               format_bytes(kMostLine))};
    if (came != 0 && !ended && lines < kEnough) continue;
    TRY(sender.send(std::string_view(waiting).substr(0, lines)));
    waiting.erase(0, lines);
  }
  return {};
}

Result<int> send_recording(const HubTarget& target, const std::string& name) {
  TRY_ASSIGN(const Recording recording, open_recording(name));
  if (recording.journal() == nullptr)
    return Error{Code::kUnsupported, recording.path() + " has no journal left to ship",
                 "record with `fathom run --hub URL --job N`, or with --no-tables"};
  TRY_ASSIGN(const auto collected, collect(recording, tables_of<Run>()));
  if (collected->rows.of<Run>().empty())
    return Error{Code::kCorrupt, recording.path() + " does not say which run it is"};
  const std::string run(collected->text(collected->rows.of<Run>().front().id));
  TRY_ASSIGN(const uint64_t frames,
             ship_journal(target, run, recording.path() + "/" + kJournalName));
  TRY(print_out(fmt::format("{} is on the hub, {} frames\n", recording.path(), frames)));
  return 0;
}

Result<int> run_send(const Arguments& arguments) {
  TRY_ASSIGN(HubTarget target, hub_target(arguments));
  if (!arguments.has("job")) return Error{Code::kInvalid, "which job?", "fathom send --job 2001"};
  TRY_ASSIGN(target.job, job_number(arguments.text("job")));
  if (arguments.has("recording")) return send_recording(target, arguments.text("recording"));
  const std::string run = arguments.has("run") ? arguments.text("run") : new_sender_name("send");
  TRY_ASSIGN(LineSender sender, LineSender::make(target, run));
  TRY(send_input(sender));
  if (sender.bad() > 0) {
    log_error("{} of {} lines were bad; the others have been taken", sender.bad(), sender.lines());
    return kExitFailure;
  }
  return 0;
}

constexpr Flag kSendFlags[] = {
    {.name = "hub",
     .value = "URL",
     .help = "the hub; else FATHOM_HUB, else http://127.0.0.1:10000"},
    {.name = "job", .letter = 'j', .value = "JOB", .help = "the job, 2001 to 9999"},
    {.name = "token-file",
     .value = "FILE",
     .help = "the hub's token, where FATHOM_TOKEN is not set",
     .completes = "file"},
    {.name = "run", .value = "NAME", .help = "what this run is called; else a name of its own"},
    {.name = "recording",
     .value = "RUN",
     .help = "ship the rest of a recording whose hub could not be reached",
     .completes = "run"},
};

}  // namespace

extern constinit const Command kSendCommand = {
    .name = "send",
    .group = "Hub",
    .summary = "Send JSON lines from stdin to a job of a hub",
    .description =
        "Any language can be a client. A line adds to sums, appends a benchmark row, gives a value "
        "or marks a moment; a bad one is named by its number, and the rest goes on. What is cut "
        "off "
        "is sent again and counts once.\n\n"
        "    {\"node\":\"main\",\"execname\":\"cc1\",\"cache-misses\":7}\n"
        "    {\"benchmark\":{\"time\":1.5,\"cache-misses\":7}}\n"
        "    {\"gauge\":\"loss\",\"value\":0.25}\n"
        "    {\"mark\":\"epoch 3\"}\n\n"
        "    ./measure | fathom send --job 2001",
    .flags = kSendFlags,
    .run = run_send,
};

}  // namespace fathom
