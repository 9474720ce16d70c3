// SPDX-License-Identifier: Apache-2.0
#include "session/metrics_server.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "base/clock.h"
#include "base/http_host.h"

namespace fathom {
namespace {

constexpr size_t kMostClients = 64;
constexpr int64_t kPatienceNs = 10 * kNsPerSecond;  // from the first byte to the last
constexpr const char* kPlain = "text/plain; charset=utf-8";

}  // namespace

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const std::string& address,
                                                            const std::string& token) {
  TRY_ASSIGN(Listening listening, listen_at(address));
  const bool loopback = listening.loopback;
  if (!loopback && token.size() < kMinTokenBytes)
    return Error{
        Code::kPermission,
        token.empty() ? listening.address + " is reachable from other hosts: it needs a token"
                      : "the token is too short",
        "set FATHOM_TOKEN, or --token-file FILE, to at least 16 bytes: openssl rand -hex 32"};
  auto server = std::unique_ptr<MetricsServer>(
      new MetricsServer(std::move(listening), loopback ? std::string() : token));
  server->stop_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!server->stop_.valid()) return errno_error("serve metrics");
  // Signals are for the recorder's thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  server->thread_ = std::thread([raw = server.get()] { raw->serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return server;
}

MetricsServer::~MetricsServer() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  (void)!write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void MetricsServer::take(const Rows& rows, const Dictionary& names) {
  const std::lock_guard lock(mutex_);
  page_.take(rows, names);
  for (std::string& text : texts_) text.clear();
}

std::string MetricsServer::page(OpenMetricsText::Form form) {
  const std::lock_guard lock(mutex_);
  std::string& text = texts_[form == OpenMetricsText::Form::kOpenMetrics ? 0 : 1];
  if (text.empty()) text = page_.text(MetricsPage::Times::kLeftOut, form);
  return text;
}

std::string MetricsServer::answer_to(const HttpRequest& request, int socket) {
  if (request.refusal != 0) return http_answer(request.refusal, kPlain, "", false);
  if (!token_.empty() && !carries_token(request.authorization, token_))
    return http_answer(401, kPlain, "a token is needed: Authorization: Bearer TOKEN\n",
                       request.head);
  // Bound to all addresses, it is also known by the one that was connected to.
  if (token_.empty() && !is_own_host(request.host, {local_address(socket)}))
    return http_answer(403, kPlain,
                       "a server without a token answers to names of this machine only\n",
                       request.head);
  if (request.path == "/metrics") {
    const auto form = openmetrics_form(request.accept);
    return http_answer(200, OpenMetricsText::content_type(form), page(form), request.head);
  }
  return http_answer(request.path == "/" ? 200 : 404, kPlain, "See /metrics\n", request.head);
}

bool MetricsServer::hear(Client& client) {
  std::array<char, 4096> buffer;
  const ssize_t got = recv(client.socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got == 0) return false;
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (client.answered()) return true;  // whatever it is: it has its answer
  client.request.append(buffer.data(), static_cast<size_t>(got));
  const auto request = parse_http_request(client.request);
  if (!request) return true;
  client.answer = answer_to(*request, client.socket.get());
  client.request = {};
  return speak(client);
}

bool MetricsServer::speak(Client& client) {
  const std::string_view rest = std::string_view(client.answer).substr(client.sent);
  const ssize_t sent =
      send(client.socket.get(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  client.sent += static_cast<size_t>(sent);
  // Closed at once, an answer to somebody who still sends might be lost.
  if (client.answered()) shutdown(client.socket.get(), SHUT_WR);
  return true;
}

bool MetricsServer::attend(Client& client) {
  const bool speaks = !client.answer.empty() && !client.answered();
  return speaks ? speak(client) : hear(client);
}

void MetricsServer::accept_all() {
  while (true) {
    Fd socket(accept4(listening_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) {
      const bool full = errno == EMFILE || errno == ENFILE;
      if (full && !clients_.empty()) clients_.pop_front();
      if (full) usleep(10'000);
      return;
    }
    if (clients_.size() >= kMostClients) {
      (void)attend(clients_.front());  // its request may be there, and nobody had time for it
      clients_.pop_front();
    }
    Client client;
    client.socket = std::move(socket);
    client.end_ns = monotonic_ns() + kPatienceNs;
    clients_.push_back(std::move(client));
  }
}

// Returns less than 0 when it is time to end.
int MetricsServer::wait_and_serve() {
  std::vector<pollfd> waiting = {{stop_.get(), POLLIN, 0}, {listening_.socket.get(), POLLIN, 0}};
  for (const Client& client : clients_) {
    const bool speaks = !client.answer.empty() && !client.answered();
    waiting.push_back({client.socket.get(), static_cast<short>(speaks ? POLLOUT : POLLIN), 0});
  }
  if (poll(waiting.data(), waiting.size(), clients_.empty() ? -1 : 500) < 0)
    return errno == EINTR ? 0 : -1;
  if (waiting[0].revents != 0) return -1;
  const int64_t now_ns = monotonic_ns();
  size_t place = 2;
  for (auto client = clients_.begin(); client != clients_.end(); ++place) {
    const bool stays = now_ns < client->end_ns && (waiting[place].revents == 0 || attend(*client));
    client = stays ? std::next(client) : clients_.erase(client);
  }
  if (waiting[1].revents != 0) accept_all();
  return 0;
}

void MetricsServer::serve() {
  while (wait_and_serve() >= 0) {
  }
}

}  // namespace fathom
