// SPDX-License-Identifier: Apache-2.0
#include "cli/run_target.h"

#include <array>
#include <filesystem>

#include "base/proc.h"
#include "cli/run_container.h"

namespace fathom {
namespace {

// One line a way to attach: the flag, and the launcher of that name after "attach-".
constexpr std::array kAttachFlags = {"pid", "cgroup", "container", "system"};
// What only a command that is started can have.
constexpr std::array kCommandFlags = {"env", "cwd", "grace"};

Result<std::vector<std::string>> chosen(const Arguments& arguments) {
  std::vector<std::string> chosen;
  for (const char* flag : kAttachFlags) {
    if (arguments.has(flag)) chosen.emplace_back(flag);
  }
  if (chosen.size() > 1) {
    return Error{Code::kInvalid, "--" + chosen[0] + " and --" + chosen[1] + " exclude each other",
                 "one recording, one target: fathom run --" + chosen[0] + " …"};
  }
  if (chosen.size() == 1 && !arguments.program().empty()) {
    return Error{Code::kInvalid,
                 "--" + chosen[0] + " attaches to what runs already and takes no command ('" +
                     arguments.program()[0] + "')",
                 chosen[0] == "pid" ? "several ids have commas between: fathom run --pid 123,456"
                                    : "fathom run -- COMMAND starts one"};
  }
  return chosen;
}

Result<RunTarget> started(const Arguments& arguments) {
  if (arguments.program().empty() || arguments.program()[0].empty()) {
    return Error{Code::kInvalid, "no command to run",
                 "fathom run -- COMMAND [ARGS], or fathom run --pid PID"};
  }
  RunTarget target;
  target.launcher = find_launcher("process");
  target.request.command = arguments.program();
  TRY_ASSIGN(target.request.environment, environment_from(arguments));
  target.request.cwd = arguments.text("cwd");
  target.name = arguments.program()[0];
  return target;
}

std::string name_of(const std::string& flag, const std::string& attach_to) {
  if (flag == "cgroup") return std::filesystem::path(attach_to + "/").parent_path().filename();
  if (flag == "container") return attach_to.substr(0, attach_to.find(','));
  if (flag != "pid") return flag;
  const std::string first = attach_to.substr(0, attach_to.find(','));
  return read_proc_name("/proc/" + first).value_or("pid-" + first);
}

}  // namespace

Result<std::vector<std::string>> environment_from(const Arguments& arguments) {
  std::vector<std::string> environment = arguments.texts("env");
  for (const std::string& setting : environment) {
    if (setting.starts_with('=')) {
      return Error{Code::kInvalid, "--env " + setting + " has no name", "--env NAME=VALUE"};
    }
    if (setting.find('=') == std::string::npos) {
      return Error{Code::kInvalid, "--env " + setting + " has no value", "--env NAME=VALUE"};
    }
  }
  return environment;
}

Result<RunTarget> run_target_from(const Arguments& arguments) {
  TRY_ASSIGN(const std::vector<std::string> flags, chosen(arguments));
  if (flags.empty() && wants_container(arguments)) return container_target_from(arguments);
  TRY(check_no_container(arguments));
  if (flags.empty()) return started(arguments);
  for (const char* flag : kCommandFlags) {
    if (!arguments.has(flag)) continue;
    return Error{
        Code::kInvalid,
        std::string("--") + flag + " is for a command that fathom starts, not for --" + flags[0],
        "leave it out"};
  }
  RunTarget target;
  target.launcher = find_launcher("attach-" + flags[0]);
  for (const std::string& value : arguments.texts(flags[0]))
    target.request.attach_to += (target.request.attach_to.empty() ? "" : ",") + value;
  target.name = name_of(flags[0], target.request.attach_to);
  return target;
}

}  // namespace fathom
