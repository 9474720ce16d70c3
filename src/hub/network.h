// SPDX-License-Identifier: Apache-2.0
// What the connections of a hub share, and short names for Boost. Thread-safe.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>

#include "hub/hub.h"
#include "hub/peer_limit.h"

namespace fathom {

namespace net = boost::asio;
using boost::system::error_code;
using net::awaitable;
using Socket = net::ip::tcp::socket;
using Event = net::steady_timer;  // waited for; cancelled when something has happened

// What connections share.
struct Network {
  explicit Network(Hub& served, int threads)
      : hub(served),
        peers(served.options().max_per_peer),
        parsers(static_cast<size_t>(threads)),
        context(threads),
        workers(4) {}
  Hub& hub;
  PeerLimit peers;               // outlives the connections in `context`, as what follows
  std::atomic<int> rejected{0};  // connections that receive their 503
  net::thread_pool parsers;      // for long bodies
  net::io_context context;
  net::thread_pool workers;  // for what may block
  std::atomic<bool> stopping{false};
};

// The error of what is awaited, instead of an exception.
inline auto into(error_code& failed) { return net::redirect_error(net::use_awaitable, failed); }

}  // namespace fathom
