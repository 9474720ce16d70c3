// SPDX-License-Identifier: Apache-2.0
#include "fathom/client.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

namespace fathom {
namespace {

constexpr std::size_t kMostMessages = 1000;  // in one request
constexpr std::size_t kMostAnswerBytes = 64u << 20;

// Control bytes are escaped; bytes that are no UTF-8 are the hub's to refuse.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char byte : text) {
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += byte;
    } else if (static_cast<unsigned char>(byte) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(byte));
      out += escaped;
    } else {
      out += byte;
    }
  }
  return out + "\"";
}

std::string new_run() {
  std::random_device random;
  char name[64];
  std::snprintf(name, sizeof name, "client-%08x%08x%08x", random(), random(), random());
  return name;
}

std::uint64_t number_in(const std::string& json, const char* name) {
  const std::string key = "\"" + std::string(name) + "\":";
  const std::size_t at = json.find(key);
  return at == std::string::npos ? 0 : std::strtoull(json.c_str() + at + key.size(), nullptr, 10);
}

std::string text_in(const std::string& json, const char* name) {
  const std::string key = "\"" + std::string(name) + "\":\"";
  std::size_t at = json.find(key);
  if (at == std::string::npos) return {};
  std::string text;
  for (at += key.size(); at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\' && at + 1 < json.size()) ++at;
    text += json[at];
  }
  return text;
}

}  // namespace

void Message::add(std::string_view name, const std::string& value) {
  json_ += (json_.empty() ? "" : ",") + quoted(name) + ":" + value;
}
Message& Message::text(std::string_view name, std::string_view value) {
  add(name, quoted(value));
  return *this;
}
Message& Message::count(std::string_view name, std::int64_t value) {
  add(name, std::to_string(value));
  return *this;
}
Message& Message::real(std::string_view name, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", value);
  add(name, std::isfinite(value) ? text : "null");
  return *this;
}
Message& Message::inside(std::string_view name, const Message& fields) {
  add(name, fields.json());
  return *this;
}

ProfClient::ProfClient(std::string bindaddr, int port)
    : host_(std::move(bindaddr)), run_(new_run()), port_(port) {
  if (const char* token = std::getenv("FATHOM_TOKEN")) token_ = token;
}

ProfClient::~ProfClient() { drop(); }

void ProfClient::drop() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

bool ProfClient::connect() {
  if (socket_ >= 0) return true;
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int unknown = getaddrinfo(host_.c_str(), std::to_string(port_).c_str(), &wanted, &found);
  if (unknown != 0) problem_ = gai_strerror(unknown);
  if (unknown != 0) return false;
  for (const addrinfo* one = found; one != nullptr && socket_ < 0; one = one->ai_next) {
    socket_ = ::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
    const timeval patience{60, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (socket_ >= 0 && ::connect(socket_, one->ai_addr, one->ai_addrlen) == 0) break;
    problem_ = std::strerror(errno);
    drop();
  }
  freeaddrinfo(found);
  return socket_ >= 0;
}

// Answers of these routes always say how long they are.
bool ProfClient::receive(Sent& sent) {
  std::string text;
  std::size_t head_end = std::string::npos, length = 0;
  while (head_end == std::string::npos || text.size() < head_end + 4 + length) {
    char room[16384];
    const ssize_t got = recv(socket_, room, sizeof room, 0);
    if (got <= 0 || text.size() > kMostAnswerBytes) return false;
    text.append(room, static_cast<std::size_t>(got));
    if (head_end != std::string::npos) continue;
    head_end = text.find("\r\n\r\n");
    const std::size_t field = text.find("Content-Length: ");
    if (head_end != std::string::npos && field < head_end)
      length = std::strtoul(text.c_str() + field + 16, nullptr, 10);
  }
  if (text.compare(0, 7, "HTTP/1.") != 0) return false;
  sent.status = std::atoi(text.c_str() + 9);
  sent.answer = text.substr(head_end + 4, length);
  if (text.find("\r\nConnection: close") < head_end) drop();
  return true;
}

Sent ProfClient::post(const std::string& target, const std::string& body) {
  const bool six = host_.find(':') != std::string::npos;
  std::string request = "POST " + target +
                        " HTTP/1.1\r\nHost: " + (six ? "[" + host_ + "]" : host_) + ":" +
                        std::to_string(port_) + "\r\nContent-Type: application/json\r\n" +
                        "Content-Length: " + std::to_string(body.size()) + "\r\n";
  if (!token_.empty()) request += "Authorization: Bearer " + token_ + "\r\n";
  request += "\r\n" + body;
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(patience_seconds_);
  for (auto pause = std::chrono::milliseconds(20);;
       pause = std::min(pause * 2, std::chrono::milliseconds(1000))) {
    Sent sent;
    problem_ = "connection lost";
    bool good = connect();
    for (std::size_t at = 0; good && at < request.size();) {
      const ssize_t wrote = send(socket_, request.data() + at, request.size() - at, MSG_NOSIGNAL);
      good = wrote > 0;
      at += good ? static_cast<std::size_t>(wrote) : 0;
    }
    good = good && receive(sent);
    if (!good) drop();
    has_answered_ = has_answered_ || good;
    const bool may_pass =
        (!good && has_answered_) || sent.status == 503 || sent.status == 507 || sent.status == 429;
    if (may_pass && Clock::now() + pause < end) {
      std::this_thread::sleep_for(pause);
      continue;
    }
    sent.ok = good && sent.status == 200;
    if (!good)
      sent.error = "no answer from " + host_ + ":" + std::to_string(port_) + ": " + problem_;
    else if (!sent.ok)
      sent.error = text_in(sent.answer, "error");
    return sent;
  }
}

Sent ProfClient::send_some(const std::string& json) {
  const std::uint64_t sequence = sequences_[job_] + 1;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const Sent sent = post(
      "/api/v1/commands?run=" + run_ + "&sequence=" + std::to_string(sequence) + "&host=" + host,
      json);
  if (number_in(sent.answer, "acknowledged") >= sequence) sequences_[job_] = sequence;
  return sent;
}

Sent ProfClient::send_data(const Messages& messages) {
  Sent sent;
  sent.ok = true;
  for (std::size_t at = 0; at < messages.size() && sent.ok;) {
    std::string json;
    const std::size_t first = at, end = std::min(messages.size(), at + kMostMessages);
    for (; at < end; ++at) {
      std::string one = messages[at].json();
      const bool names_job = one.find("\"jobid\":") != std::string::npos;
      if (!names_job && job_ != 0) one.insert(1, "\"jobid\":" + std::to_string(job_) + ",");
      json += (json.empty() ? "[" : ",") + one;
    }
    sent = send_some(json + "]");
    if (!sent.ok && first > 0)
      sent.error = "messages " + std::to_string(first + 1) + " to " + std::to_string(end) + ": " +
                   sent.error;
  }
  if (!sent.ok && first_failed_.status == -1) first_failed_ = sent;
  return sent;
}

Sent ProfClient::start(int job) {
  job_ = job;
  first_failed_ = Sent{};
  first_failed_.status = -1;
  const Sent last = send_data(run_on_job());
  return first_failed_.status == -1 ? last : first_failed_;
}

}  // namespace fathom
