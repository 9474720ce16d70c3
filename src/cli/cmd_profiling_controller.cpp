// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/dump.h"
#include "cli/hub_api.h"
#include "cli/seed_client.h"

namespace fathom {
namespace {

struct Order {
  HubApi& api;
  const Arguments& arguments;
  int64_t job;
};

Result<int> create(const Order& order) {
  TRY_ASSIGN(const HubJob job, order.api.create(order.job, order.arguments.text("info"), "{}"));
  TRY(print_out(fmt::format("created job {}\n", job.id)));
  return 0;
}

Result<int> remove(const Order& order) {
  TRY_ASSIGN(const HubJob job, order.api.job(order.job));
  if (!order.arguments.has("yes")) {
    if (isatty(STDIN_FILENO) == 0)
      return Error{Code::kInvalid, "removing a job cannot be undone", "pass --yes to confirm"};
    TRY_ASSIGN(const bool sure, confirm_removal(job));
    if (!sure) return kExitFailure;
  }
  TRY(order.api.ask("DELETE", fmt::format("/api/v1/jobs/{}", order.job)));
  TRY(print_out(fmt::format("removed job {}\n", order.job)));
  return 0;
}

Result<int> list(const Order& order) {
  TRY_ASSIGN(const auto jobs, order.api.jobs());
  TRY(print_out(job_table(jobs)));
  return 0;
}

Result<int> show_info(const Order& order) {
  TRY_ASSIGN(const HubJob job, order.api.job(order.job));
  TRY(print_out(job_table({job})));
  return 0;
}

Result<int> dump(const Order& order, bool rows) {
  TRY(dump_job(order.api, {order.job, rows, "lines", order.arguments.text("file")}));
  return 0;
}
Result<int> show_benchmark(const Order& order) { return dump(order, true); }
Result<int> show_profiling(const Order& order) { return dump(order, false); }

Result<int> clear_benchmark(const Order& order) {
  TRY(order.api.ask("DELETE", fmt::format("/api/v1/jobs/{}/rows", order.job)));
  TRY(print_out(fmt::format("cleared the benchmark data of job {}\n", order.job)));
  return 0;
}

struct Word {
  const char* name;
  bool needs_job;
  Result<int> (*work)(const Order& order);
};
constexpr std::array kWords = {
    Word{"CREATE", true, create},
    Word{"REMOVE", true, remove},
    Word{"LIST", false, list},
    Word{"SHOW_JOB_INFO", true, show_info},
    Word{"SHOW_JOB_BENCHMARK", true, show_benchmark},
    Word{"SHOW_JOB_PROFILING", true, show_profiling},
    Word{"CLEAR_JOB_BENCHMARK", true, clear_benchmark},
};

Result<int> run_controller(const Arguments& arguments) {
  TRY_ASSIGN(const HubTarget target, seed_target(arguments));
  const std::string named = arguments.text("cmd");
  if (named.empty()) return Error{Code::kInvalid, "what shall be done?", "--cmd LIST"};
  for (const Word& word : kWords) {
    if (named != word.name) continue;
    if (word.needs_job && target.job == 0)
      return Error{Code::kInvalid, named + " needs a job", "--jobid 2001"};
    TRY_ASSIGN(HubApi api, HubApi::connect(target));
    return word.work({api, arguments, target.job});
  }
  return Error{Code::kInternal, "no command " + named};
}

constexpr Flag kProfilingControllerFlags[] = {
    FATHOM_SEED_FLAGS,
    {.name = "jobid", .value = "JOB", .help = "the job, 2001 to 9999"},
    {.name = "cmd",
     .value = "COMMAND",
     .help = "what to do",
     .choices = "CREATE REMOVE LIST SHOW_JOB_INFO SHOW_JOB_BENCHMARK SHOW_JOB_PROFILING "
                "CLEAR_JOB_BENCHMARK"},
    {.name = "info", .value = "TEXT", .help = "CREATE: what the job is for"},
    {.name = "file",
     .value = "FILE",
     .help = "SHOW_JOB_BENCHMARK, SHOW_JOB_PROFILING: write here instead of stdout",
     .completes = "file"},
    {.name = "yes", .letter = 'y', .help = "REMOVE: without asking"},
};

}  // namespace

extern constinit const Command kProfilingControllerCommand = {
    .name = "profiling-controller",
    .group = "Hub",
    .summary = "The controller of seed 001: jobs of a server",
    .description =
        "What `fathom job` does, by the name and flags that people know.\n\n"
        "    profiling-controller --cmd CREATE --jobid 2001 --info nightly\n"
        "    profiling-controller --cmd SHOW_JOB_PROFILING --jobid 2001 --file out.txt",
    .flags = kProfilingControllerFlags,
    .run = run_controller,
    .hidden = true,
};

}  // namespace fathom
