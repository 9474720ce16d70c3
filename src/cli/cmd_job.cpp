// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/dump.h"
#include "cli/hub_api.h"
#include "cli/job_text.h"

namespace fathom {
namespace {

struct Task {
  HubApi api;
  const Arguments& arguments;
  int64_t id = 0;  // 0: none was named
};

Result<std::string> labels_from(const Arguments& arguments) {
  std::string json;
  for (const std::string& label : arguments.texts("label")) {
    const size_t equals = label.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error{Code::kInvalid, "'" + printable(label) + "' is no label", "--label os=linux"};
    json += fmt::format("{}{}:{}", json.empty() ? "" : ",", json_quote(label.substr(0, equals)),
                        json_quote(label.substr(equals + 1)));
  }
  return "{" + json + "}";
}

Result<int> create(Task& task) {
  TRY_ASSIGN(const std::string labels, labels_from(task.arguments));
  TRY_ASSIGN(const HubJob job,
             task.api.create(task.id, task.arguments.text("description"), labels));
  TRY(print_out(fmt::format("{}\n", job.id)));
  return 0;
}

Result<int> list(Task& task) {
  if (task.arguments.has("json")) {
    TRY_ASSIGN(const std::string json, task.api.ask("GET", "/api/v1/jobs"));
    TRY(print_out(json));
    return 0;
  }
  TRY_ASSIGN(const auto jobs, task.api.jobs());
  TRY(print_out(job_table(jobs)));
  return 0;
}

Result<int> show(Task& task) {
  TRY_ASSIGN(const std::string job, task.api.ask("GET", fmt::format("/api/v1/jobs/{}", task.id)));
  TRY_ASSIGN(const std::string runs,
             task.api.ask("GET", fmt::format("/api/v1/jobs/{}/runs", task.id)));
  if (task.arguments.has("json")) {
    TRY(print_out(job + runs));
    return 0;
  }
  TRY_ASSIGN(const std::string text, job_text(job, runs));
  TRY(print_out(text));
  return 0;
}

constexpr const char* kRemovedEvent = "event: removed";

// Prints the events of one connection. Belongs to one thread.
class EventPrinter {
 public:
  explicit EventPrinter(bool json) : json_(json) {}

  // Part of the stream: prints the data of the complete lines that there are.
  Status take(std::string_view part) {
    rest_ += part;
    for (size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1)) {
      const std::string_view line = std::string_view(rest_).substr(0, end);
      removed_ = removed_ || line == kRemovedEvent;
      if (!line.starts_with(kData) || (removed_ && !json_)) continue;
      const std::string event(line.substr(kData.size()));
      if (auto printed = print_out((json_ ? event : event_line(event)) + "\n"); !printed.ok()) {
        failed_ = true;
        return printed;
      }
    }
    return {};
  }
  [[nodiscard]] bool removed() const { return removed_; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  static constexpr std::string_view kData = "data: ";
  bool json_;
  std::string rest_;
  bool removed_ = false;  // the job was
  bool failed_ = false;   // to print
};

// One connection, until it ends. `connected` is called when the hub has responded.
Status follow(Task& task, EventPrinter& printer, const std::function<void()>& connected) {
  bool first = true;
  return task.api.stream(fmt::format("/api/v1/jobs/{}/events", task.id),
                         [&](std::string_view part) {
                           if (std::exchange(first, false)) connected();
                           return printer.take(part);
                         });
}

// Until the job is removed. A lost connection is made again for as long as --retry says.
Result<int> watch(Task& task) {
  TRY_ASSIGN(const int64_t retry_ns, task.arguments.duration("retry"));
  const std::string hub = task.api.url();
  bool has_connected = false;
  int64_t give_up_ns = 0;  // 0: connected
  while (true) {
    EventPrinter printer(task.arguments.has("json"));
    const auto ended = follow(task, printer, [&] {
      if (give_up_ns != 0) log_info("reconnected to {}; events of the interval are missing", hub);
      has_connected = true;
      give_up_ns = 0;
    });
    if (printer.removed()) {
      log_info("job {} was removed", task.id);
      return 0;
    }
    const bool retry = ended.ok() || (ended.error().code == Code::kIo && !printer.failed());
    if (!ended.ok() && (!retry || !has_connected)) return ended.error();
    const std::string why = ended.ok() ? hub + ": connection closed" : ended.error().message;
    if (give_up_ns == 0) {
      give_up_ns = monotonic_ns() + retry_ns;
      log_warning("{}; reconnecting for {}", why, format_duration_ns(retry_ns));
    }
    if (monotonic_ns() > give_up_ns)
      return Error{Code::kIo,
                   fmt::format("{}: no connection for {}", why, format_duration_ns(retry_ns)),
                   "start the hub and run the command again; --retry TIME waits longer"};
    usleep(200'000);
  }
}

Result<int> dump(Task& task) {
  const DumpWish wish{task.id, task.arguments.has("rows"), task.arguments.text("as"),
                      task.arguments.text("output")};
  TRY(dump_job(task.api, wish));
  return 0;
}

Result<int> clear(Task& task) {
  TRY(task.api.ask("DELETE", fmt::format("/api/v1/jobs/{}/rows", task.id)));
  TRY(print_out(fmt::format("cleared the rows of job {}\n", task.id)));
  return 0;
}

Result<int> remove(Task& task) {
  TRY_ASSIGN(const HubJob job, task.api.job(task.id));
  if (!task.arguments.has("yes")) {
    if (isatty(STDIN_FILENO) == 0)
      return Error{Code::kInvalid, "removing a job cannot be undone", "pass --yes to confirm"};
    TRY_ASSIGN(const bool sure, confirm_removal(job));
    if (!sure) return kExitFailure;
  }
  TRY(task.api.ask("DELETE", fmt::format("/api/v1/jobs/{}", task.id)));
  TRY(print_out(fmt::format("removed job {}\n", task.id)));
  return 0;
}

struct Action {
  const char* name;
  enum class Id { kNone, kMay, kMust } id;
  Result<int> (*work)(Task& task);
};

// One line an action; kActionNames below names them for help and completion.
constexpr std::array kActions = {
    Action{"create", Action::Id::kMay, create}, Action{"list", Action::Id::kNone, list},
    Action{"show", Action::Id::kMust, show},    Action{"watch", Action::Id::kMust, watch},
    Action{"dump", Action::Id::kMust, dump},    Action{"clear", Action::Id::kMust, clear},
    Action{"remove", Action::Id::kMust, remove}};
constexpr const char* kActionNames = "create list show watch dump clear remove";

Result<int> run_job(const Arguments& arguments) {
  const std::string named = arguments.positional(0), id = arguments.positional(1);
  for (const Action& action : kActions) {
    if (named != action.name) continue;
    if (id.empty() && action.id == Action::Id::kMust)
      return Error{Code::kInvalid, "which job?", fmt::format("fathom job {} 2001", named)};
    if (!id.empty() && action.id == Action::Id::kNone)
      return Error{Code::kInvalid, fmt::format("{} takes no job", named)};
    int64_t number = 0;
    if (!id.empty()) {
      TRY_ASSIGN(number, job_number(id));
    }
    TRY_ASSIGN(const HubTarget target, hub_target(arguments));
    TRY_ASSIGN(HubApi api, HubApi::connect(target));
    Task task{std::move(api), arguments, number};
    return action.work(task);
  }
  return Error{Code::kInternal, "no action " + named};
}

constexpr Flag kJobFlags[] = {
    {.name = "hub",
     .value = "URL",
     .help = "the hub; else FATHOM_HUB, else http://127.0.0.1:10000"},
    {.name = "token-file",
     .value = "FILE",
     .help = "the hub's token, where FATHOM_TOKEN is not set",
     .completes = "file"},
    {.name = "description", .letter = 'd', .value = "TEXT", .help = "create: what the job is for"},
    {.name = "label",
     .letter = 'l',
     .value = "NAME=VALUE",
     .help = "create: a label",
     .repeatable = true},
    {.name = "rows", .help = "dump: the benchmark rows instead of the profile"},
    {.name = "as",
     .value = "FORM",
     .help =
         "dump: lines of JSON, csv or parquet; sums of clock events (cpu-clock, task-clock) are "
         "nanoseconds of samples, those of other events are counts",
     .fallback = "lines",
     .choices = "lines csv parquet"},
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "dump: write here instead of stdout",
     .completes = "file"},
    {.name = "json", .help = "list, show, watch: as the hub says it, for programs"},
    {.name = "retry",
     .value = "TIME",
     .help = "watch: reconnect for TIME after the hub was lost",
     .fallback = "60s"},
    {.name = "yes", .letter = 'y', .help = "remove: without asking"},
};
constexpr Positional kJobPositionals[] = {
    {.name = "ACTION",
     .help = "create, list, show, watch, dump, clear or remove",
     .choices = kActionNames},
    {.name = "JOB",
     .help = "its number, 2001 to 9999; create takes the next free one",
     .optional = true},
};

}  // namespace

extern constinit const Command kJobCommand = {
    .name = "job",
    .group = "Hub",
    .summary = "Create, watch, dump and remove jobs of a hub",
    .description =
        "A job collects what clients send: sums per function and event, and benchmark rows. `show` "
        "also says which runs have come, from where and when; `watch` prints what changes, as it "
        "does, a line each, until the job is removed; where the hub is lost it reconnects, and "
        "exits with "
        "status 1 after --retry. Programs ask for --json, a line of JSON for each answer and "
        "event.\n\n"
        "    fathom job create 2001 --description nightly\n"
        "    fathom job list\n"
        "    fathom job dump 2001 --as parquet -o profile.parquet\n"
        "    fathom job dump 2001 --rows --as csv\n"
        "    fathom job remove 2001 --yes",
    .flags = kJobFlags,
    .positionals = kJobPositionals,
    .run = run_job,
};

}  // namespace fathom
