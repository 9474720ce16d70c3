// SPDX-License-Identifier: Apache-2.0
#include "probe/exec/exec_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/environment.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr int64_t kPatienceNs = 500 * kNsPerMs;  // for it to end when asked
constexpr size_t kMostWords = 1024;
constexpr size_t kPipeBytes = size_t{64} << 10;
constexpr int kMostReads = 16;  // of a pipe in one go; others wait

int64_t ns_of(const timeval& time) {
  return int64_t{time.tv_sec} * kNsPerSecond + int64_t{time.tv_usec} * 1000;
}

// Not the signals that the recorder holds back, and nobody's terminal.
void set_attributes(posix_spawnattr_t& attributes) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

}  // namespace

Result<std::unique_ptr<ExecProgram>> ExecProgram::start(
    const std::string& command, const std::vector<std::string>& environment) {
  auto program = std::unique_ptr<ExecProgram>(new ExecProgram(command));
  TRY(program->spawn(environment));
  return program;
}

Status ExecProgram::spawn(const std::vector<std::string>& environment) {
  TRY_ASSIGN(auto output, make_pipe());
  TRY_ASSIGN(auto errors, make_pipe());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.second.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.second.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  set_attributes(attributes);
  std::array<char*, 4> argv = {const_cast<char*>("sh"), const_cast<char*>("-c"),
                               const_cast<char*>(command_.c_str()), nullptr};
  std::vector<std::string> all = environment_with(environment);
  std::vector<char*> variables;
  for (std::string& variable : all) variables.push_back(variable.data());
  variables.push_back(nullptr);
  const int error =
      posix_spawn(&pid_, "/bin/sh", &actions, &attributes, argv.data(), variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    pid_ = -1;
    return errno_error("start " + command_, error);
  }
  output_ = std::move(output.first);
  errors_ = std::move(errors.first);
  fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  fcntl(errors_.get(), F_SETFL, O_NONBLOCK);
  return {};
}

ExecProgram::~ExecProgram() {
  if (pid_ > 0) end([](std::string_view) {});
}

void ExecProgram::keep_words(std::string_view bytes) {
  words_ += bytes;
  if (words_.size() > kMostWords) words_.erase(0, words_.size() - kMostWords);
}

bool ExecProgram::read(const Take& take) {
  std::array<char, kPipeBytes> buffer;
  bool any = false;
  const auto read_all = [&](int fd, auto&& use) {
    for (int left = kMostReads; left > 0; --left) {
      const ssize_t got = ::read(fd, buffer.data(), buffer.size());
      if (got <= 0) return;
      any = true;
      use(std::string_view(buffer.data(), static_cast<size_t>(got)));
    }
  };
  read_all(output_.get(), [&](std::string_view bytes) { lines_.add(bytes, take); });
  read_all(errors_.get(), [&](std::string_view bytes) { keep_words(bytes); });
  return any;
}

void ExecProgram::reap() {
  rusage usage{};
  while (wait4(pid_, &status_, 0, &usage) < 0 && errno == EINTR) {
  }
  cpu_ns_ = ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
  pid_ = -1;
}

bool ExecProgram::has_ended() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

void ExecProgram::end(const Take& take) {
  if (pid_ <= 0) return;
  ended_before_ = has_ended();
  kill(-pid_, SIGTERM);  // also what it has started; it is not reaped yet, so the id is its own
  const int64_t end_ns = monotonic_ns() + kPatienceNs;
  while (!has_ended() && monotonic_ns() < end_ns) {
    read(take);  // it may wait for room
    usleep(1000);
  }
  kill(-pid_, SIGKILL);
  reap();
  read(take);
  lines_.end(take);
}

std::string ExecProgram::failure() const {
  if (!ended_before_ || status_ == 0) return {};
  const std::string how = WIFSIGNALED(status_) ? fmt::format("signal {}", WTERMSIG(status_))
                                               : fmt::format("status {}", WEXITSTATUS(status_));
  std::string_view words = words_;
  while (words.ends_with('\n')) words.remove_suffix(1);
  words = words.substr(words.rfind('\n') + 1);
  return fmt::format("'{}' ended with {}{}{}", command_, how, words.empty() ? "" : ": ",
                     printable(words));
}

}  // namespace fathom
