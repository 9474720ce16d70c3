// SPDX-License-Identifier: Apache-2.0
// A real redis-server for tests: on a free port of this machine, its data in a folder of its own,
// every write on disk before it is answered. Ended, or killed, with the object.
#pragma once

#include <arpa/inet.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/temp_folder.h"

extern char** environ;

namespace fathom {

class RedisServer {
 public:
  // False: there is no redis-server here.
  static bool available() { return std::system("command -v redis-server >/dev/null 2>&1") == 0; }

  explicit RedisServer(std::vector<std::string> more = {}) : more_(std::move(more)) {
    port_ = free_port();
    start();
  }
  ~RedisServer() { stop(SIGKILL); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url() const {
    return "redis://127.0.0.1:" + std::to_string(port_) + "/0";
  }
  void stop(int signal) {
    if (pid_ <= 0) return;
    kill(pid_, signal);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  // Returns when it takes connections.
  void start() {
    std::vector<std::string> words = {"redis-server",
                                      "--port",
                                      std::to_string(port_),
                                      "--bind",
                                      "127.0.0.1",
                                      "--dir",
                                      folder_.path(),
                                      "--appendonly",
                                      "yes",
                                      "--appendfsync",
                                      "always",
                                      "--save",
                                      "",
                                      "--daemonize",
                                      "no",
                                      "--logfile",
                                      folder_ / "log"};
    words.insert(words.end(), more_.begin(), more_.end());
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    if (posix_spawnp(&pid_, "redis-server", nullptr, nullptr, argv.data(), environ) != 0) {
      pid_ = 0;
      return;
    }
    while (!connects() && kill(pid_, 0) == 0) usleep(5'000);
  }

 private:
  static int free_port() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at = loopback(0);
    socklen_t size = sizeof at;
    if (bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) return 0;
    getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
    close(fd);
    return ntohs(at.sin_port);
  }
  static sockaddr_in loopback(int port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<uint16_t>(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
  }
  [[nodiscard]] bool connects() const {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in at = loopback(port_);
    const bool good = connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
    close(fd);
    return good;
  }

  TempFolder folder_;
  std::vector<std::string> more_;
  int port_ = 0;
  pid_t pid_ = 0;
};

}  // namespace fathom
