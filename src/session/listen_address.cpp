// SPDX-License-Identifier: Apache-2.0
#include "session/listen_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>

#include "base/text.h"

namespace fathom {
namespace {

constexpr const char* kHint = "--metrics-listen 9464, or 127.0.0.1:9464, or [::1]:9464";

struct Parts {
  std::string host, port;
};

Result<Parts> split(const std::string& address) {
  const size_t colon = address.rfind(':');
  Parts parts{"127.0.0.1", address};
  if (colon != std::string::npos) {
    parts.port = address.substr(colon + 1);
    if (colon > 0) parts.host = address.substr(0, colon);
  }
  if (parts.host.starts_with('[') && parts.host.ends_with(']'))
    parts.host = parts.host.substr(1, parts.host.size() - 2);
  const auto port = parse_number(parts.port);
  if (!port.ok() || port.value() < 0 || port.value() > 65535)
    return Error{Code::kInvalid, address + " has no port number", kHint};
  return parts;
}

using Found = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<Found> look_up(const Parts& parts) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(parts.host.c_str(), parts.port.c_str(), &wanted, &found);
  if (error != 0 || found == nullptr)
    return Error{Code::kInvalid, parts.host + " is no address here: " + gai_strerror(error), kHint};
  return Found(found, freeaddrinfo);
}

// An IPv4 address that is mapped into IPv6 as IPv4.
std::string address_text(const sockaddr_storage& bound) {
  char text[INET6_ADDRSTRLEN] = "";
  if (bound.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(bound).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&six))
      inet_ntop(AF_INET, six.s6_addr + 12, text, sizeof text);
    else
      inet_ntop(AF_INET6, &six, text, sizeof text);
  } else if (bound.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(bound).sin_addr, text, sizeof text);
  }
  return text;
}

sockaddr_storage name_of(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size);
  return bound;
}

void describe(Listening& listening) {
  const sockaddr_storage bound = name_of(listening.socket.get());
  const std::string text = address_text(bound);
  if (bound.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(bound);
    listening.address = "[" + text + "]:" + std::to_string(ntohs(six.sin6_port));
    listening.loopback = IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
  } else {
    const auto& four = reinterpret_cast<const sockaddr_in&>(bound);
    listening.address = text + ":" + std::to_string(ntohs(four.sin_port));
    listening.loopback = (ntohl(four.sin_addr.s_addr) >> 24) == 127;
  }
}

}  // namespace

std::string local_address(int socket) { return address_text(name_of(socket)); }

Result<Listening> listen_at(const std::string& address) {
  TRY_ASSIGN(const Parts parts, split(address));
  TRY_ASSIGN(const Found found, look_up(parts));
  Listening listening;
  listening.socket = Fd(socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                               found->ai_protocol));
  const int on = 1;
  if (listening.socket.valid())
    setsockopt(listening.socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!listening.socket.valid() ||
      bind(listening.socket.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      listen(listening.socket.get(), SOMAXCONN) != 0)
    return errno_error("listen at " + address);
  describe(listening);
  return listening;
}

}  // namespace fathom
