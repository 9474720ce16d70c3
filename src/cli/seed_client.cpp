// SPDX-License-Identifier: Apache-2.0
#include "cli/seed_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/fd.h"
#include "base/log.h"
#include "base/perf_event.h"
#include "base/perf_event_name.h"
#include "base/text.h"
#include "cli/hub_api.h"
#include "record/recording.h"

extern char** environ;

namespace fathom {
namespace {

// Words as a shell splits them: quotes and backslashes, nothing else.
Result<std::vector<std::string>> words_of_line(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    const char byte = line[at];
    if (quote == 0 && (byte == ' ' || byte == '\t')) {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else if (quote == 0 && (byte == '"' || byte == '\'')) {
      quote = byte;
      open = true;
    } else if (byte == quote) {
      quote = 0;
    } else if (byte == '\\' && quote != '\'' && at + 1 < line.size()) {
      word += line[++at];
      open = true;
    } else {
      word += byte;
      open = true;
    }
  }
  if (quote != 0) return Error{Code::kInvalid, "a quote is not closed"};
  if (open) words.push_back(std::move(word));
  return words;
}

Result<SeedCommand> parse_line(std::string_view line) {
  TRY_ASSIGN(std::vector<std::string> words, words_of_line(line));
  SeedCommand command;
  size_t first = 1;
  if (words.size() > 3 && words[0] == "cd" && words[2] == "&&") {
    command.folder = words[1];
    first = 3;
  } else {
    command.folder = words.empty() ? "" : words[0];
  }
  command.words.assign(words.begin() + static_cast<ptrdiff_t>(std::min(first, words.size())),
                       words.end());
  if (command.words.empty())
    return Error{Code::kInvalid, "this is neither `DIR COMMAND` nor `cd DIR && COMMAND`"};
  return command;
}

Result<std::vector<SeedCommand>> read_commands(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path));
  std::vector<SeedCommand> commands;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    ++number;
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line[first] == '#') continue;
    while (line.ends_with('\r')) line.remove_suffix(1);
    auto parsed = parse_line(line);
    SeedCommand command;
    if (parsed.ok()) {
      command = std::move(parsed.value());
    } else {
      command.bad = parsed.error();
    }
    command.where = fmt::format("{}, line {}", path, number);
    commands.push_back(std::move(command));
  }
  return commands;
}

void say_unsuccessful(const SeedCommand& command, int status) {
  log_warning("{}{} exited with status {}", command.where.empty() ? "" : command.where + ": ",
              shell_quote(std::span<const std::string>(command.words)), status);
}

Status can_count(const std::string& event) {
  TRY_ASSIGN(PerfEventName name, find_perf_event(event));
  name.attr.disabled = 1;
  name.attr.inherit = 1;
  TRY(open_perf_event(name.attr, 0, -1));
  return {};
}

}  // namespace

Result<HubTarget> seed_target(const Arguments& arguments) {
  HubTarget target;
  const std::string bind = arguments.text("bind");
  const bool six = bind.find(':') != std::string::npos && !bind.starts_with('[');
  target.url =
      fmt::format("http://{}{}{}:{}", six ? "[" : "", bind, six ? "]" : "", arguments.text("port"));
  TRY(HttpUrl::parse(target.url, kDefaultHubPort));
  TRY_ASSIGN(target.token, read_token(arguments.text("token-file")));
  if (arguments.has("jobid")) {
    TRY_ASSIGN(target.job, job_number(arguments.text("jobid")));
  }
  return target;
}

Result<HubTarget> seed_job(const Arguments& arguments) {
  TRY_ASSIGN(HubTarget target, seed_target(arguments));
  if (target.job == 0) return Error{Code::kInvalid, "which job?", "--jobid 2001"};
  TRY_ASSIGN(HubApi api, HubApi::connect(target));
  auto job = api.job(target.job);
  if (job.ok()) return target;
  if (job.error().code == Code::kNotFound)
    job.error().hint =
        fmt::format("create it first: profiling-controller --cmd CREATE --jobid {}", target.job);
  return std::move(job).error();
}

Result<std::vector<SeedCommand>> seed_commands(const Arguments& arguments) {
  std::vector<SeedCommand> commands;
  if (arguments.has("commands") == !arguments.program().empty())
    return Error{Code::kInvalid, "what shall be run?", "-- COMMAND, or --commands FILE"};
  if (arguments.has("commands")) {
    TRY_ASSIGN(commands, read_commands(arguments.text("commands")));
  } else {
    commands.push_back({"", arguments.program()});
  }
  TRY_ASSIGN(const std::vector<std::string> prepend, words_of_line(arguments.text("prepend")));
  for (SeedCommand& command : commands) {
    if (command.bad) continue;
    if (arguments.has("program")) command.words[0] = arguments.text("program");
    command.words.insert(command.words.begin() + 1, prepend.begin(), prepend.end());
  }
  TRY_ASSIGN(const int64_t repeat, arguments.number("repeat"));
  if (repeat < 1 || repeat > 1'000'000) return Error{Code::kInvalid, "--repeat must be 1 or more"};
  std::vector<SeedCommand> all;
  for (int64_t i = 0; i < repeat; ++i) all.insert(all.end(), commands.begin(), commands.end());
  return all;
}

Result<SeedEvents> seed_events(const Arguments& arguments) {
  SeedEvents events;
  for (const std::string& event : arguments.list("events")) {
    auto can = can_count(event);
    if (can.ok()) {
      events.usable.push_back(event);
      continue;
    }
    events.missing.push_back(event);
    log_warning("{} cannot be counted here: {}", printable(event), can.error().message);
  }
  const bool has_clock =
      std::find(events.usable.begin(), events.usable.end(), "cpu-clock") != events.usable.end();
  if (!events.missing.empty() && !has_clock) {
    log_warning("cpu-clock is taken instead");
    events.usable.emplace_back("cpu-clock");
  }
  return events;
}

Result<ClientFolder> ClientFolder::make() {
  std::error_code failed;
  std::string path = std::filesystem::temp_directory_path(failed) / "fathom-client-XXXXXX";
  if (mkdtemp(path.data()) != nullptr) return ClientFolder(std::move(path));
  return errno_error("make a folder for recordings, " + path)
      .with_hint("TMPDIR=FOLDER names another place for it");
}

ClientFolder::~ClientFolder() {
  std::error_code ignored;
  if (!path_.empty() && !is_kept_) std::filesystem::remove_all(path_, ignored);
}

Result<SeedRun> run_recorded(const SeedCommand& command, const std::vector<std::string>& flags,
                             const std::string& folder) {
  static int number = 0;
  SeedRun run;
  run.recording = fmt::format("{}/run-{}", folder, ++number);
  std::vector<std::string> words = {"fathom", "run", "-q", "-o", run.recording};
  words.insert(words.end(), flags.begin(), flags.end());
  if (!command.folder.empty()) words.insert(words.end(), {"--cwd", command.folder});
  words.emplace_back("--");
  words.insert(words.end(), command.words.begin(), command.words.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv.data(), environ);
  if (failed != 0) return errno_error("start fathom run", failed);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  // A command that could not be started leaves no recording; one that was may exit with 127, too.
  std::error_code ignored;
  if (!std::filesystem::exists(run.recording + kFolderSuffix, ignored))
    return Error{Code::kInternal,
                 "could not profile: " + shell_quote(std::span<const std::string>(command.words))};
  return run;
}

Result<int> run_seed_commands(const std::vector<SeedCommand>& commands, const HubTarget& target,
                              bool ignore_failure,
                              const std::function<Result<int>(const SeedCommand&)>& work,
                              const std::function<std::string()>& summary) {
  size_t failed = 0, unsuccessful = 0, done = 0;
  for (const SeedCommand& command : commands) {
    if (unsuccessful > 0 && !ignore_failure) break;
    ++done;
    auto status = command.bad ? Result<int>(*command.bad) : work(command);
    if (status.ok()) {
      if (status.value() != 0) say_unsuccessful(command, status.value());
      unsuccessful += status.value() != 0 ? 1 : 0;
      continue;
    }
    // A server that is gone is gone for the rest as well.
    const bool gone = status.error().code == Code::kIo;
    if (gone || (command.where.empty() && commands.size() == 1)) return status;
    ++failed;
    log_failure(command.where.empty() ? std::move(status).error()
                                      : std::move(status).error().within(command.where));
  }
  if (failed > 0) log_error("{} of {} commands could not be run", failed, commands.size());
  if (done < commands.size()) {
    log_error("{} of {} commands not run", commands.size() - done, commands.size());
    log_hint("--ignore-failure runs them all");
  }
  log_info("{} command{}, {} went to job {} at {}", done - failed, done - failed == 1 ? "" : "s",
           summary(), target.job, target.url);
  return failed > 0 || (unsuccessful > 0 && !ignore_failure) ? kExitFailure : 0;
}

}  // namespace fathom
