// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <string_view>

#include "base/fd.h"
#include "support/hub_process.h"

namespace fathom {

// A plain socket to the hub.
class Wire {
 public:
  explicit Wire(const HubProcess& hub) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<uint16_t>(hub.port()));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval patience{20, 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    connected_ = connect(fd_.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
  }
  [[nodiscard]] bool connected() const { return connected_; }
  void say(std::string_view text) const {
    (void)!::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  void end() const { shutdown(fd_.get(), SHUT_WR); }
  // Until the hub ends the connection.
  [[nodiscard]] std::string all() const {
    std::string text;
    char room[4096];
    for (ssize_t got = 0; (got = recv(fd_.get(), room, sizeof room, 0)) > 0;)
      text.append(room, static_cast<size_t>(got));
    return text;
  }
  // The next bytes, as one recv() of that size returns them.
  [[nodiscard]] std::string next(size_t most = 1024) const {
    std::string text(most, '\0');
    const ssize_t got = recv(fd_.get(), text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return text;
  }
  // Until `wanted` has come, or the end.
  [[nodiscard]] std::string until(std::string_view wanted) const {
    std::string text;
    char room[4096];
    while (text.find(wanted) == std::string::npos) {
      const ssize_t got = recv(fd_.get(), room, sizeof room, 0);
      if (got <= 0) break;
      text.append(room, static_cast<size_t>(got));
    }
    return text;
  }

 private:
  Fd fd_;
  bool connected_ = false;
};

}  // namespace fathom
