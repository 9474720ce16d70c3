// SPDX-License-Identifier: Apache-2.0
// As in connection.cpp, each co_await is a statement of its own. What is awaited gets no temporary
// object either: GCC 12 destroys some of them twice (docs/design/0008).
#include "hub/legacy_client.h"

#include <chrono>
#include <optional>
#include <span>
#include <vector>
#include <boost/asio.hpp>

#include "base/clock.h"
#include "base/log.h"

namespace fathom {
namespace {

constexpr size_t kReadBytes = 64 << 10;
constexpr int64_t kMessageNs = 20 * kNsPerSecond;  // from its first to its last byte
constexpr int64_t kWriteNs = 60 * kNsPerSecond;
constexpr auto kPause = std::chrono::milliseconds(50);

}  // namespace

awaitable<bool> LegacyClient::read_more() {
  auto& buffer = link_.buffer;
  const int64_t idle_ns = link_.network.hub.options().idle_ns;
  // A client may run a program between two messages.
  link_.read_by_ns = monotonic_ns() + (framer_.size() > 0 ? kMessageNs : idle_ns);
  error_code failed;
  const auto space = buffer.prepare(kReadBytes);
  const size_t got = co_await link_.socket.async_read_some(space, into(failed));
  link_.read_by_ns = INT64_MAX;
  framer_.append({static_cast<const char*>(space.data()), got});
  co_return !failed && got > 0;
}

awaitable<bool> LegacyClient::write(std::string_view text) {
  link_.write_by_ns = monotonic_ns() + kWriteNs;
  error_code failed;
  co_await net::async_write(link_.socket, net::buffer(text.data(), text.size()), into(failed));
  link_.write_by_ns = INT64_MAX;
  co_return !failed;
}

awaitable<bool> LegacyClient::wait_for_ack() {
  while (!link_.no_more) {
    const auto acknowledged = framer_.take_ack();
    if (!acknowledged.ok()) co_return false;
    if (acknowledged.value()) co_return true;
    const bool more = co_await read_more();
    if (!more) co_return false;
  }
  co_return false;
}

// Line by line, so that a client which receives 1,024 bytes at a time gets one part per call.
awaitable<bool> LegacyClient::send_text(std::string_view rest) {
  while (!rest.empty()) {
    const size_t line = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view part = rest.substr(0, std::min(line, kMaxLegacyChunkBytes));
    rest.remove_prefix(part.size());
    const bool written = co_await write(part);
    if (!written) co_return false;
    const bool acknowledged = co_await wait_for_ack();
    if (!acknowledged) co_return false;
  }
  co_return true;
}

// The result of `work`, which runs on a worker thread.
template <class Value>
awaitable<Value> LegacyClient::on_worker(const std::function<Value()>& work) {
  struct Shared {
    explicit Shared(Socket& socket) : done(socket.get_executor(), Event::time_point::max()) {}
    Event done;
    std::optional<Value> value;
  };
  auto shared = std::make_shared<Shared>(link_.socket);
  auto strand = link_.socket.get_executor();
  net::post(link_.network.workers, [shared, strand, owner = link_.owner, work]() mutable {
    auto value = std::make_shared<Value>(work());
    net::post(strand, [shared, owner = std::move(owner), value] {
      shared->value = std::move(*value);
      shared->done.cancel();
    });
  });
  while (!shared->value) {
    error_code ignored;
    co_await shared->done.async_wait(into(ignored));
  }
  co_return std::move(*shared->value);
}

awaitable<bool> LegacyClient::send_reply(LegacyReply& reply) {
  const bool written = co_await write(reply.bytes);
  if (!written || !reply.more) co_return written;
  // These clients compare what one recv() returns with "ack": TCP must not join it to the next
  // part, so the hub leaves time for that recv().
  net::steady_timer pause(link_.socket.get_executor(), kPause);
  error_code ignored;
  co_await pause.async_wait(into(ignored));
  while (true) {
    auto text = co_await on_worker<Result<std::string>>(reply.more);
    if (!text.ok()) {
      log_warning("profiling-framework client: {}", text.error().message);
      co_return false;
    }
    if (text.value().empty()) break;
    const bool sent = co_await send_text(text.value());
    if (!sent) co_return false;
  }
  const bool ended = co_await write(kLegacyEnd);
  co_return ended;
}

// All complete messages that were received. False: the connection must be closed.
awaitable<bool> LegacyClient::serve_messages(const std::shared_ptr<LegacySession>& session) {
  auto messages = std::make_shared<std::vector<std::string>>();
  auto next = framer_.next();
  for (; next.ok() && next.value(); next = framer_.next())
    messages->push_back(std::move(*next.value()));
  for (size_t done = 0; done < messages->size();) {
    const std::function<LegacyReply()> execute = [session, messages, done] {
      return session->execute(std::span(*messages).subspan(done));
    };
    auto reply = co_await on_worker<LegacyReply>(execute);
    done += reply.taken;
    link_.network.hub.counts().requests += static_cast<int64_t>(reply.taken);
    const bool sent = co_await send_reply(reply);
    if (!sent) co_return false;
  }
  if (next.ok()) co_return true;
  co_await write(next.error().message);
  co_return false;
}

awaitable<void> LegacyClient::serve() {
  Hub& hub = link_.network.hub;
  error_code failed;
  const std::string peer = link_.socket.remote_endpoint(failed).address().to_string();
  if (!is_in_any(hub.options().legacy_clients, peer)) {
    ++hub.counts().refused;
    log_warning("rejected profiling-framework client {}: not in --legacy-clients", peer);
    const std::string why =
        "client " + peer + " rejected (hint: start the hub with --legacy-clients " + peer + ")\n";
    co_await write(why);
    co_return;
  }
  auto session = std::make_shared<LegacySession>(hub, peer);
  Held space(hub.counts());
  framer_.append({static_cast<const char*>(link_.buffer.data().data()), link_.buffer.size()});
  link_.buffer.consume(link_.buffer.size());
  while (!link_.no_more) {
    link_.busy = true;
    const bool served = co_await serve_messages(session);
    link_.busy = false;
    if (!served || link_.no_more) co_return;
    if (!space.reach(framer_.size(), hub.options().most_pending_bytes)) {
      ++hub.counts().turned_away;
      co_await write("hub overloaded: request bodies in flight exceed --max-pending; retry later");
      co_return;
    }
    const bool more = co_await read_more();
    if (!more) co_return;
  }
}

}  // namespace fathom
