// SPDX-License-Identifier: Apache-2.0
#include "hub/server.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <thread>
#include <boost/asio.hpp>

#include "base/clock.h"
#include "base/file_limit.h"
#include "base/log.h"
#include "hub/connection.h"
#include "hub/rejected_connection.h"

namespace fathom {
namespace {

using tcp = net::ip::tcp;

class Server : public Network {
 public:
  Server(Hub& served, Fd listening)
      : Network(served, threads_of(served)),
        strand_(net::make_strand(context)),
        acceptor_(strand_),
        signals_(strand_),
        sweep_(strand_) {
    acceptor_.assign(tcp::v4(), listening.release());
  }

  void run(const std::function<void()>& started) {
    signals_.add(SIGTERM);
    signals_.add(SIGINT);
    signals_.async_wait([this](error_code failed, int signal) {
      if (!failed) stop(signal);
    });
    net::co_spawn(strand_, accept_all(), net::detached);
    sweep_later();
    started();
    std::vector<std::thread> threads;
    for (int i = 1; i < threads_of(hub); ++i) threads.emplace_back([this] { context.run(); });
    context.run();
    for (std::thread& thread : threads) thread.join();
    // From here on nobody answers or wakes a connection, which would need the context.
    hub.committer().stop();
    hub.live().close();
    parsers.join();
    workers.join();
  }

  void add(Connection* connection) {
    const std::lock_guard lock(mutex_);
    connections_.push_back(connection->weak_from_this());
    ++hub.counts().connections;
  }

 private:
  static int threads_of(const Hub& hub) {
    if (hub.options().threads > 0) return hub.options().threads;
    return static_cast<int>(std::max(2U, std::thread::hardware_concurrency()));
  }
  awaitable<void> accept_all();
  void sweep_later();
  void sweep();
  // The place of a new connection, or null and why it gets none.
  std::unique_ptr<PeerLimit::Place> place_for(const Socket& socket, std::string& why);
  void warn(int64_t now_ns);
  void return_memory();
  void stop(int signal);

  // A signal may come while another thread sweeps or accepts: one after the other.
  net::strand<net::io_context::executor_type> strand_;
  net::basic_socket_acceptor<tcp> acceptor_;
  net::signal_set signals_;
  net::steady_timer sweep_;
  std::mutex mutex_;
  std::list<std::weak_ptr<Connection>> connections_;
  int64_t end_by_ns_ = INT64_MAX;
  // For messages, on the strand.
  int64_t warn_after_ns_ = 0, rejected_ = 0, warn_rejected_after_ns_ = 0;
  std::string why_rejected_;
  int64_t max_pending_bytes_ = 0;  // since memory was last returned
};

awaitable<void> Server::accept_all() {
  while (!stopping) {
    error_code failed;
    Socket socket(net::make_strand(context));
    co_await acceptor_.async_accept(socket, into(failed));
    if (stopping) break;
    if (failed) {  // no descriptors left, or the peer has gone
      net::steady_timer pause(context, std::chrono::milliseconds(10));
      co_await pause.async_wait(into(failed));
      continue;
    }
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    std::string why;
    auto place = place_for(socket, why);
    if (!place) {
      ++hub.counts().turned_away;
      ++rejected_;
      why_rejected_ = why;
      reject_connection(*this, std::move(socket), why);
      continue;
    }
    auto connection = std::make_shared<Connection>(*this, std::move(socket), std::move(place));
    add(connection.get());
    connection->start();
  }
}

std::unique_ptr<PeerLimit::Place> Server::place_for(const Socket& socket, std::string& why) {
  const HubOptions& options = hub.options();
  if (hub.counts().connections >= static_cast<int64_t>(options.most_connections)) {
    why = fmt::format("hub overloaded: {} connections are open (--max-connections)",
                      options.most_connections);
    return nullptr;
  }
  error_code failed;
  const auto peer = socket.remote_endpoint(failed).address();
  const auto six =
      peer.is_v4() ? net::ip::make_address_v6(net::ip::v4_mapped, peer.to_v4()) : peer.to_v6();
  auto place = peers.enter(six.to_bytes());
  if (!place)
    why = fmt::format(
        "{} connections of {} wait without a request that was admitted "
        "(--max-per-peer)",
        options.max_per_peer, peer.to_string());
  return place;
}

void Server::sweep_later() {
  sweep_.expires_after(stopping ? std::chrono::milliseconds(20) : std::chrono::milliseconds(500));
  sweep_.async_wait([this](error_code failed) {
    if (!failed) sweep();
  });
}

// At most every few seconds: that nothing is stored, and that connections were rejected.
void Server::warn(int64_t now_ns) {
  constexpr int64_t kPauseNs = 5 * kNsPerSecond;
  if (const auto trouble = hub.committer().trouble(now_ns); trouble && now_ns >= warn_after_ns_) {
    const bool is_full = trouble->code == Code::kNoSpace;
    log_warning("{}: {}; {} batches waiting, none is acknowledged",
                is_full ? "the store is full" : "the store does not answer", trouble->message,
                hub.committer().counts().waiting.load());
    warn_after_ns_ = now_ns + kPauseNs;
  }
  if (rejected_ > 0 && now_ns >= warn_rejected_after_ns_) {
    log_warning("{} connections rejected; the last one: {}", rejected_, why_rejected_);
    rejected_ = 0;
    warn_rejected_after_ns_ = now_ns + kPauseNs;
  }
}

// After large requests or a backlog of events: the allocator keeps what was freed otherwise.
void Server::return_memory() {
  constexpr int64_t kWorthBytes = int64_t{16} << 20;
  const int64_t pending = hub.counts().pending_bytes;
  max_pending_bytes_ = std::max(max_pending_bytes_, pending);
  if (max_pending_bytes_ < kWorthBytes || pending > max_pending_bytes_ / 4) return;
  max_pending_bytes_ = pending;
  net::post(workers, [] { malloc_trim(0); });
}

void Server::sweep() {
  const int64_t now_ns = monotonic_ns();
  warn(now_ns);
  return_memory();
  bool none = false;
  {
    const std::lock_guard lock(mutex_);
    for (auto place = connections_.begin(); place != connections_.end();) {
      const auto connection = place->lock();
      if (connection) connection->check(now_ns, stopping);
      place = connection ? std::next(place) : connections_.erase(place);
    }
    none = connections_.empty();
  }
  if (stopping && (none || now_ns > end_by_ns_)) {
    context.stop();
    return;
  }
  sweep_later();
}

void Server::stop(int signal) {
  log_info("signal {}: ending after what is under way", signal);
  end_by_ns_ = monotonic_ns() + hub.options().shutdown_ns;
  stopping = true;
  error_code ignored;
  acceptor_.close(ignored);
  sweep_.cancel();
  sweep();
  // Whoever is impatient sends another.
  signals_.async_wait([this](error_code failed, int) {
    if (!failed) context.stop();
  });
}

}  // namespace

Status serve(Hub& hub, Fd listening, const std::function<void()>& started) {
  raise_file_limit();
  try {
    Server server(hub, std::move(listening));
    server.run(started);
  } catch (const std::exception& failure) {
    return Error{Code::kIo, std::string("serve: ") + failure.what()};
  }
  return {};
}

}  // namespace fathom
