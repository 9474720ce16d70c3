// SPDX-License-Identifier: Apache-2.0
#include "base/http_client.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/clock.h"
#include "base/host_lookup.h"
#include "base/scan.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr size_t kMostHeadBytes = 64 << 10;
constexpr int kStopPollMs = 50;

bool same_word(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i)
    if ((left[i] | 0x20) != (right[i] | 0x20)) return false;
  return true;
}

}  // namespace

Result<HttpUrl> HttpUrl::parse(const std::string& text, const std::string& default_port) {
  const Error wrong{Code::kInvalid, printable(text) + " is no address of a hub",
                    "http://127.0.0.1:" + default_port};
  std::string_view rest = text;
  if (rest.starts_with("http://")) rest.remove_prefix(7);
  if (rest.find("://") != std::string_view::npos) return wrong;
  HttpUrl url;
  const size_t slash = std::min(rest.find('/'), rest.size());
  url.path = rest.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  rest = rest.substr(0, slash);
  url.port = default_port;
  const size_t colon = rest.rfind(':');
  if (colon != std::string_view::npos && rest.find(']', colon) == std::string_view::npos) {
    url.port = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
  }
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  url.host = rest;
  const auto port = parse_number(url.port);
  const bool odd = text.find_first_of(" \r\n\t") != std::string::npos;
  if (url.host.empty() || !port.ok() || port.value() < 1 || port.value() > 65535 || odd)
    return wrong;
  return url;
}

HttpUrl HttpUrl::of_socket(std::string file, std::string path) {
  HttpUrl url;
  url.host = "localhost";
  url.port = "80";
  url.path = std::move(path);
  url.socket = std::move(file);
  return url;
}

std::string HttpUrl::text() const {
  if (!socket.empty()) return socket;
  const bool six = host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}{}", six ? "[" : "", host, six ? "]" : "", port, path);
}

std::string url_quote(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' || byte == '.';
    if (plain)
      out += byte;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(byte));
  }
  return out;
}

void HttpClient::drop() {
  socket_.reset();
  buffer_.clear();
  at_ = 0;
}

Error HttpClient::broken(std::string_view why) {
  drop();
  return Error{Code::kIo, fmt::format("{}: {}", url_.text(), why),
               url_.socket.empty() ? "is the hub running? fathom serve" : ""};
}

Status HttpClient::wait_for(int socket, short events, const char* late) {
  const int64_t quiet_until_ns = monotonic_ns() + int64_t{timeout_ms_} * kNsPerMs;
  while (true) {
    const int64_t now_ns = monotonic_ns();
    const int64_t end_ns = std::min(quiet_until_ns, give_up_ns_);
    if (stop_ != nullptr && *stop_) return broken("given up");
    if (now_ns >= end_ns)
      return broken(fmt::format(
          "{} within {}", late,
          format_duration_ns(give_up_ns_ < quiet_until_ns ? exchange_limit_ns_
                                                          : int64_t{timeout_ms_} * kNsPerMs)));
    int64_t wait_ms = (end_ns - now_ns) / kNsPerMs + 1;
    if (stop_ != nullptr) wait_ms = std::min<int64_t>(wait_ms, kStopPollMs);
    pollfd ready{socket, events, 0};
    const int found = poll(&ready, 1, static_cast<int>(std::min<int64_t>(wait_ms, INT32_MAX)));
    if (found > 0) return {};
    if (found < 0 && errno != EINTR) return broken(errno_error("poll").message);
  }
}

// The code of an error says which it was: not there, not allowed, or nobody answers.
Status HttpClient::connect_socket() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (url_.socket.size() >= sizeof address.sun_path)
    return Error{Code::kInvalid, url_.socket + " is too long for a socket"};
  url_.socket.copy(address.sun_path, url_.socket.size());
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return errno_error("socket");
  const timeval limit{timeout_ms_ / 1000, (timeout_ms_ % 1000) * 1000};
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return errno_error(url_.socket);
  socket_ = std::move(socket);
  return {};
}

Status HttpClient::connect_to(const void* address, unsigned size, int family, int type,
                              int protocol) {
  Fd socket(::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
  if (!socket.valid()) return broken(errno_error("connect").message);
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket.get(), static_cast<const sockaddr*>(address), size) != 0) {
    if (errno != EINPROGRESS) return broken(errno_error("connect").message);
    TRY(wait_for(socket.get(), POLLOUT, "connect: no response"));
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) return broken(errno_error("connect", error).message);
  }
  socket_ = std::move(socket);
  return {};
}

Status HttpClient::connect() {
  if (socket_.valid()) return {};
  if (!url_.socket.empty()) return connect_socket();
  const int64_t quiet_until_ns = monotonic_ns() + int64_t{timeout_ms_} * kNsPerMs;
  auto found = look_up_host(url_.host, url_.port, std::min(quiet_until_ns, give_up_ns_), stop_);
  if (!found.ok()) return broken(found.error().message);
  Status connected = broken("no address");
  for (const addrinfo* one = found.value().get(); one != nullptr; one = one->ai_next) {
    connected = connect_to(one->ai_addr, one->ai_addrlen, one->ai_family, one->ai_socktype,
                           one->ai_protocol);
    if (connected.ok()) break;
  }
  return connected;
}

Status HttpClient::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) return broken(errno_error("send").message);
    if (sent < 0) TRY(wait_for(socket_.get(), POLLOUT, "no more of the request was read"));
    bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(sent, 0)));
  }
  return {};
}

Result<bool> HttpClient::fill() {
  if (at_ > 0 && at_ == buffer_.size()) {
    buffer_.clear();
    at_ = 0;
  }
  std::array<char, 65536> room;
  while (true) {
    TRY(wait_for(socket_.get(), POLLIN, "no complete response"));
    const ssize_t got = recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return broken(errno_error("receive").message);
    buffer_.append(room.data(), static_cast<size_t>(got));
    return got > 0;
  }
}

Result<std::string> HttpClient::line() {
  while (true) {
    const size_t end = buffer_.find('\n', at_);
    if (end != std::string::npos) {
      std::string text(trimmed(std::string_view(buffer_).substr(at_, end - at_)));
      at_ = end + 1;
      return text;
    }
    if (buffer_.size() - at_ > kMostHeadBytes) return broken("this is no answer of HTTP");
    TRY_ASSIGN(const bool more, fill());
    if (!more) return broken("it ended the connection");
  }
}

Result<HttpClient::Head> HttpClient::read_head() {
  Head head;
  do {  // 100 Continue is no answer yet
    TRY_ASSIGN(const std::string first, line());
    if (!first.starts_with("HTTP/1.") || first.size() < 12)
      return broken("this is no answer of HTTP");
    head = Head{};
    head.status = static_cast<int>(parse_number(std::string_view(first).substr(9, 3)).value_or(0));
    for (int fields = 0;; ++fields) {
      TRY_ASSIGN(const std::string field, line());
      if (field.empty()) break;
      if (fields > 200) return broken("this is no answer of HTTP");
      const size_t colon = std::min(field.find(':'), field.size());
      const std::string_view name = std::string_view(field).substr(0, colon);
      const std::string_view value =
          trimmed(std::string_view(field).substr(std::min(colon + 1, field.size())));
      if (same_word(name, "content-type")) head.type = value;
      if (same_word(name, "transfer-encoding")) head.chunked = same_word(value, "chunked");
      if (same_word(name, "connection")) head.close = same_word(value, "close");
      if (same_word(name, "content-length")) {
        head.sized = true;
        head.length = static_cast<uint64_t>(std::max<int64_t>(0, parse_number(value).value_or(0)));
      }
    }
  } while (head.status / 100 == 1);
  return head;
}

Status HttpClient::read_sized(uint64_t length, const Take& take) {
  while (length > 0) {
    if (at_ == buffer_.size()) {
      TRY_ASSIGN(const bool more, fill());
      if (!more) return broken("the answer is cut short");
    }
    const size_t part = std::min<uint64_t>(length, buffer_.size() - at_);
    TRY(take(std::string_view(buffer_).substr(at_, part)));
    at_ += part;
    length -= part;
  }
  return {};
}

Status HttpClient::read_chunks(const Take& take) {
  while (true) {
    TRY_ASSIGN(const std::string size_line, line());
    char* end = nullptr;
    const uint64_t size = strtoull(size_line.c_str(), &end, 16);
    if (end == size_line.c_str()) return broken("the answer makes no sense");
    TRY(read_sized(size, take));
    TRY(line());
    if (size == 0) return {};
  }
}

Status HttpClient::read_body(const Head& head, const Take& take) {
  if (head.chunked) return read_chunks(take);
  if (head.sized) return read_sized(head.length, take);
  if (head.status == 204 || head.status == 304) return {};
  while (true) {
    if (at_ < buffer_.size()) TRY(take(std::string_view(buffer_).substr(at_)));
    at_ = buffer_.size();
    TRY_ASSIGN(const bool more, fill());
    if (!more) return {};
  }
}

Status HttpClient::send(std::string_view method, std::string_view target, std::string_view type,
                        std::string_view body) {
  TRY(connect());
  const bool six = url_.host.find(':') != std::string::npos;
  std::string head = fmt::format("{} {}{} HTTP/1.1\r\nHost: {}{}{}:{}\r\n", method, url_.path,
                                 target, six ? "[" : "", url_.host, six ? "]" : "", url_.port);
  if (!token_.empty()) head += fmt::format("Authorization: Bearer {}\r\n", token_);
  if (!type.empty()) head += fmt::format("Content-Type: {}\r\n", type);
  if (!type.empty() || method == "POST") head += fmt::format("Content-Length: {}\r\n", body.size());
  head += "\r\n";
  if (body.size() < 16'384) return write(head + std::string(body));
  TRY(write(head));
  return write(body);
}

Result<HttpAnswer> HttpClient::receive() {
  if (!socket_.valid()) return broken("the connection is gone");
  TRY_ASSIGN(const Head head, read_head());
  HttpAnswer answer{head.status, head.type, {}};
  const auto too_long = [&] {
    return broken("the response exceeds " + format_bytes(max_body_bytes_));
  };
  if (head.length > max_body_bytes_) return too_long();
  TRY(read_body(head, [&](std::string_view part) -> Status {
    if (answer.body.size() + part.size() > max_body_bytes_) return too_long();
    answer.body += part;
    return {};
  }));
  if (head.close) drop();
  return answer;
}

Result<HttpAnswer> HttpClient::call(std::string_view method, std::string_view target,
                                    std::string_view type, std::string_view body) {
  const bool kept = socket_.valid();
  if (exchange_limit_ns_ > 0) give_up_ns_ = monotonic_ns() + exchange_limit_ns_;
  auto answer = call_once(method, target, type, body);
  // A connection that was kept may have been closed in the meantime, which shows at its next use.
  if (!answer.ok() && kept && method != "POST") answer = call_once(method, target, type, body);
  give_up_ns_ = INT64_MAX;
  return answer;
}

Result<HttpAnswer> HttpClient::call_once(std::string_view method, std::string_view target,
                                         std::string_view type, std::string_view body) {
  TRY(send(method, target, type, body));
  return receive();
}

Result<HttpAnswer> HttpClient::stream(std::string_view target, const Take& take) {
  TRY(send("GET", target, {}, {}));
  TRY_ASSIGN(const Head head, read_head());
  HttpAnswer answer{head.status, head.type, {}};
  TRY(read_body(head, [&](std::string_view part) -> Status {
    if (head.status == 200) return take(part);
    answer.body += part.substr(0, kMostHeadBytes);
    return {};
  }));
  if (head.close) drop();
  return answer;
}

}  // namespace fathom
