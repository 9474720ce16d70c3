// SPDX-License-Identifier: Apache-2.0
#include "base/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/fd.h"

namespace fathom {
namespace {

constexpr size_t kMaxOutput = size_t{1} << 20;

std::string read_to_end(int fd) {
  std::string output;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return output;
    if (output.size() < kMaxOutput) output.append(buffer.data(), static_cast<size_t>(got));
  }
}

}  // namespace

Result<Finished> run_to_end(const std::vector<std::string>& command) {
  TRY_ASSIGN(auto output, make_pipe());
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.second.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.second.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return errno_error("run " + command[0], error);
  output.second.reset();
  Finished finished;
  finished.output = read_to_end(output.first.get());
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

}  // namespace fathom
