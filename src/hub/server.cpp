// SPDX-License-Identifier: Apache-2.0
#include "hub/server.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <thread>
#include <boost/asio.hpp>

#include "base/clock.h"
#include "base/file_limit.h"
#include "base/log.h"
#include "hub/connection.h"

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
  void say_trouble(int64_t now_ns);
  void stop(int signal);

  // A signal may come while another thread sweeps or accepts: one after the other.
  net::strand<net::io_context::executor_type> strand_;
  net::basic_socket_acceptor<tcp> acceptor_;
  net::signal_set signals_;
  net::steady_timer sweep_;
  std::mutex mutex_;
  std::list<std::weak_ptr<Connection>> connections_;
  int64_t end_by_ns_ = INT64_MAX;
  int64_t told_retries_ = 0, tell_after_ns_ = 0;  // the sweeper's
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
    if (hub.counts().connections >= static_cast<int64_t>(hub.options().most_connections)) {
      ++hub.counts().turned_away;
      continue;  // closes it
    }
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    auto connection = std::make_shared<Connection>(*this, std::move(socket));
    add(connection.get());
    connection->start();
  }
}

void Server::sweep_later() {
  sweep_.expires_after(stopping ? std::chrono::milliseconds(20) : std::chrono::milliseconds(500));
  sweep_.async_wait([this](error_code failed) {
    if (!failed) sweep();
  });
}

// That batches wait for the store, at most every few seconds.
void Server::say_trouble(int64_t now_ns) {
  const int64_t retries = hub.committer().counts().retries;
  if (retries == told_retries_ || now_ns < tell_after_ns_) return;
  log_warning("the store does not answer: {} batches wait, at most {} s; none is acknowledged",
              hub.committer().counts().waiting.load(), hub.options().patience_ns / kNsPerSecond);
  told_retries_ = retries;
  tell_after_ns_ = now_ns + 5 * kNsPerSecond;
}

void Server::sweep() {
  const int64_t now_ns = monotonic_ns();
  say_trouble(now_ns);
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
