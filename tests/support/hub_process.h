// SPDX-License-Identifier: Apache-2.0
// A real hub for tests: bin/fathom serve on a free port of this machine, started, killed and
// started again at the same place.
#pragma once

#include <arpa/inet.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/http_client.h"
#include "support/folders.h"
#include "support/temp_folder.h"

extern char** environ;

namespace fathom {

class HubProcess {
 public:
  explicit HubProcess(std::vector<std::string> flags = {}) : flags_(std::move(flags)) {
    port_ = std::to_string(free_port());
    start();
  }
  ~HubProcess() { stop(SIGKILL); }
  HubProcess(const HubProcess&) = delete;
  HubProcess& operator=(const HubProcess&) = delete;

  [[nodiscard]] HttpUrl url() const { return {"127.0.0.1", port_, ""}; }
  [[nodiscard]] HttpClient client(const std::string& token = "") const { return {url(), token}; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] int port() const { return std::stoi(port_); }

  // Its exit status; 128 + signal if it was ended by one.
  int stop(int signal) {
    if (pid_ <= 0) return -1;
    kill(pid_, signal);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // Returns when it answers, or has ended.
  void start() {
    std::vector<std::string> words = {
        build_folder() + "/bin/fathom", "serve", "--port", port_, "--data", folder_ / "data"};
    words.insert(words.end(), flags_.begin(), flags_.end());
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    if (posix_spawn(&pid_, words[0].c_str(), nullptr, nullptr, argv.data(), environ) != 0) {
      pid_ = 0;
      return;
    }
    while (waitpid(pid_, nullptr, WNOHANG) == 0) {
      if (auto answer = client().call("GET", "/healthz"); answer.ok()) return;
      usleep(5'000);
    }
    pid_ = 0;
  }

  static int free_port() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) return 0;
    getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
    close(fd);
    return ntohs(at.sin_port);
  }

 private:
  TempFolder folder_;
  std::vector<std::string> flags_;
  std::string port_;
  pid_t pid_ = 0;
};

}  // namespace fathom
