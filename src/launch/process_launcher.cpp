// SPDX-License-Identifier: Apache-2.0
#include "launch/process_launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/environment.h"
#include "base/fd.h"
#include "base/install.h"
#include "base/proc.h"
#include "wire/spawn.h"

namespace fathom {
namespace {

Departure departure_of(const fathom_spawn_message& message) {
  Departure departure;
  departure.pid = message.pid;
  departure.is_main = message.is_main != 0;
  departure.status = message.status;
  departure.time_ns = message.time_ns;
  departure.user_ns = message.user_ns;
  departure.system_ns = message.system_ns;
  departure.max_rss_bytes = message.max_rss_bytes;
  departure.minor_faults = message.minor_faults;
  departure.major_faults = message.major_faults;
  departure.voluntary_switches = message.voluntary_switches;
  departure.involuntary_switches = message.involuntary_switches;
  if (message.has_io != 0) {
    departure.io = {message.read_chars, message.written_chars, message.disk_read_bytes,
                    message.disk_written_bytes};
  }
  return departure;
}

class ProcessTarget final : public Target {
 public:
  ProcessTarget(Fd socket, pid_t spawner, std::string command, std::optional<Cgroup> cgroup)
      : socket_(std::move(socket)),
        spawner_(spawner),
        command_(std::move(command)),
        cgroup_(std::move(cgroup)) {}
  ~ProcessTarget() override { finish(); }

  // `joins_others`: the spawner was given all that it needs to place it in the others.
  Status wait_ready(bool joins_others) {
    TRY_ASSIGN(const fathom_spawn_message message, next());
    if (message.kind != FATHOM_SPAWN_READY) return errno_error("start a process", message.error);
    pid_ = message.pid;
    if (!cgroup_) return {};
    if (is_in_cgroup(message, joins_others)) return {};
    cgroup_->remove();
    cgroup_.reset();
    return {};
  }

  [[nodiscard]] int64_t pid() const override { return pid_; }
  [[nodiscard]] const Cgroup* cgroup() const override { return cgroup_ ? &*cgroup_ : nullptr; }
  [[nodiscard]] int event_fd() const override { return socket_.get(); }

  Status go() override {
    tell(FATHOM_SPAWN_GO);
    TRY_ASSIGN(const fathom_spawn_message message, next());
    if (message.kind == FATHOM_SPAWN_STARTED) return {};
    Error error = errno_error(command_, message.error);
    std::error_code ignored;
    if (message.error == ENOENT && command_.find('/') == std::string::npos) {
      error =
          Error{Code::kNotFound, command_ + ": command not found", "check the spelling and PATH"};
    } else if (message.error == EACCES && std::filesystem::is_directory(command_, ignored)) {
      error = Error{Code::kPermission, command_ + " is a folder", "name a program in it"};
    } else if (message.error == EACCES) {
      error.hint = "is it an executable file? chmod +x " + command_;
    }
    if (message.error == ENOENT && command_.find(' ') != std::string::npos)
      error.hint = "did you mean: fathom run -- " + command_;
    return of_command(std::move(error));
  }

  std::vector<Departure> departures() override {
    std::vector<Departure> gone;
    fathom_spawn_message message{};
    ssize_t got = 0;
    while ((got = recv(socket_.get(), &message, sizeof message, MSG_DONTWAIT)) == sizeof message) {
      if (message.kind != FATHOM_SPAWN_EXITED) continue;
      gone.push_back(departure_of(message));
      main_gone_ = main_gone_ || message.is_main != 0;
    }
    lost_ = lost_ || got == 0;
    return gone;
  }
  [[nodiscard]] bool lost() const override { return lost_; }

  // To the group while its leader lives; what must die, or outlived the leader, is found by its
  // parents.
  void signal(int number) override {
    if (pid_ > 0 && !main_gone_) kill(static_cast<pid_t>(-pid_), number);
    if (main_gone_ || number == SIGKILL) signal_below(spawner_, number);
  }

  void finish() override {
    if (spawner_ < 0) return;
    tell(FATHOM_SPAWN_QUIT);
    socket_.reset();
    while (waitpid(spawner_, nullptr, 0) < 0 && errno == EINTR) {
    }
    spawner_ = -1;
    if (cgroup_) cgroup_->remove();
  }

 private:
  // Whether it was placed by the spawner, or can be placed now.
  [[nodiscard]] bool is_in_cgroup(const fathom_spawn_message& message, bool joins_others) const {
    if (message.in_cgroup == 0) return cgroup_->add(pid_).ok();
    return (joins_others && message.in_others != 0) || cgroup_->add_to_others(pid_).ok();
  }

  static void signal_below(int64_t pid, int number) {
    const auto threads = list_ids(proc_folder(pid) + "/task");
    if (!threads.ok()) return;
    for (const int64_t tid : threads.value()) {
      const auto children = read_proc_children(proc_folder(pid, tid));
      if (!children.ok()) continue;
      for (const int64_t child : children.value()) {
        signal_below(child, number);
        kill(static_cast<pid_t>(child), number);
      }
    }
  }

  void tell(char word) const { (void)!send(socket_.get(), &word, 1, MSG_NOSIGNAL); }

  Result<fathom_spawn_message> next() const {
    fathom_spawn_message message{};
    ssize_t got = 0;
    do {
      got = recv(socket_.get(), &message, sizeof message, 0);
    } while (got < 0 && errno == EINTR);
    if (got != sizeof message) {
      return Error{Code::kIo, "fathom-spawn ended early",
                   "reinstall fathom: its lib folder may be incomplete"};
    }
    return message;
  }

  Fd socket_;
  pid_t spawner_;
  std::string command_;
  int64_t pid_ = 0;
  bool main_gone_ = false, lost_ = false;
  std::optional<Cgroup> cgroup_;
};

// What the spawner is given: its end of the socket, the directory of a cgroup and two tasks files;
// -1: none.
using Handed = std::array<int, 4>;

// Runs in the forked child; only async-signal-safe calls. Returns errno on failure.
int exec_spawner(const char* spawner, char* const* argv, char* const* environment,
                 const LaunchRequest& request, const Handed& handed) {
  sigprocmask(SIG_SETMASK, &request.signal_mask, nullptr);
  if (!request.cwd.empty() && chdir(request.cwd.c_str()) != 0) return errno;
  for (const int fd : handed)
    if (fd >= 0 && fcntl(fd, F_SETFD, 0) != 0) return errno;
  execve(spawner, argv, environment);
  return errno;
}

// Its leaf in the unified tree, where a process can be born; none: no such tree.
Fd folder_of(const std::optional<Cgroup>& cgroup) {
  if (!cgroup || cgroup->unified().empty()) return {};
  return open_file(cgroup->unified(), O_RDONLY | O_DIRECTORY).value_or(Fd());
}

// By which a process joins the cgroup of version 1; none: there is no such cgroup.
Fd tasks_file(const std::string& folder) {
  return folder.empty() ? Fd() : open_file(folder + "/tasks", O_WRONLY).value_or(Fd());
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Result<std::string> find_spawner() {
  auto spawner = find_installed("lib/fathom-spawn");
  if (!spawner.ok()) spawner.error().code = Code::kUnsupported;  // not found is for the command
  return spawner;
}

Result<pid_t> start_spawner(const LaunchRequest& request, const Handed& handed) {
  TRY_ASSIGN(const std::string spawner, find_spawner());
  std::vector<std::string> words = {"fathom-spawn"};
  for (const int fd : handed) words.push_back(std::to_string(fd));
  words.insert(words.end(), request.command.begin(), request.command.end());
  std::vector<std::string> environment = environment_with(request.environment);
  const std::vector<char*> argv = pointers_to(words);
  const std::vector<char*> envp = pointers_to(environment);
  TRY_ASSIGN(auto failure, make_pipe());
  const pid_t pid = fork();
  if (pid < 0) return errno_error("fork");
  if (pid == 0) {
    const int error = exec_spawner(spawner.c_str(), argv.data(), envp.data(), request, handed);
    (void)!write(failure.second.get(), &error, sizeof error);
    _exit(125);
  }
  failure.second.reset();
  int error = 0;
  if (read(failure.first.get(), &error, sizeof error) != sizeof error) return pid;
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (request.cwd.empty()) return errno_error("start " + spawner, error);
  Error failed = errno_error("change to " + request.cwd, error);
  failed.code = Code::kInvalid;  // the command itself was found
  return failed;
}

}  // namespace

Result<std::unique_ptr<Target>> launch_process(const LaunchRequest& request) {
  if (request.command.empty() || request.command[0].empty()) {
    return Error{Code::kInvalid, "no command to run", "fathom run -- COMMAND [ARGS]"};
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return errno_error("socketpair");
  Fd ours(ends[0]);
  Fd theirs(ends[1]);
  std::optional<Cgroup> cgroup;
  if (auto made = Cgroup::create(request.run_label, request.cgroup_figures); made.ok()) {
    cgroup = std::move(made).value();
    if (request.cgroup_figures) cgroup->limit_by_recorder();
  }
  const Fd folder = folder_of(cgroup);
  const Fd memory = tasks_file(cgroup ? cgroup->memory() : ""),
           cpuacct = tasks_file(cgroup ? cgroup->cpuacct() : "");
  const bool has_memory = cgroup && !cgroup->memory().empty(),
             has_cpuacct = cgroup && !cgroup->cpuacct().empty();
  const auto spawner =
      start_spawner(request, {theirs.get(), folder.get(), memory.get(), cpuacct.get()});
  if (!spawner.ok()) {
    if (cgroup) cgroup->remove();
    return spawner.error();
  }
  theirs.reset();
  auto target = std::make_unique<ProcessTarget>(std::move(ours), spawner.value(),
                                                request.command[0], std::move(cgroup));
  TRY(target->wait_ready(memory.valid() == has_memory && cpuacct.valid() == has_cpuacct));
  return std::unique_ptr<Target>(std::move(target));
}

}  // namespace fathom
