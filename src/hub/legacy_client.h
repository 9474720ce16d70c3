// SPDX-License-Identifier: Apache-2.0
// One connection of a client that speaks the protocol of legacy_protocol.h. Runs on the strand of
// the Connection that recognized it, whose socket and deadlines it uses.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "hub/legacy_protocol.h"
#include "hub/network.h"

namespace fathom {

class LegacyClient {
 public:
  // Parts of the Connection, which `owner` keeps alive.
  struct Link {
    Network& network;
    Socket& socket;
    boost::beast::flat_buffer& buffer;
    std::atomic<int64_t>& read_by_ns;
    std::atomic<int64_t>& write_by_ns;
    const bool& no_more;
    bool& busy;  // the hub does not end the connection while it is set
    std::shared_ptr<void> owner;
  };
  explicit LegacyClient(Link link) : link_(std::move(link)) {}

  // Until the client has ended the connection, or sent something that is not this protocol.
  awaitable<void> serve();

 private:
  awaitable<bool> serve_messages(const std::shared_ptr<LegacySession>& session);
  awaitable<bool> read_more();
  awaitable<bool> write(std::string_view text);
  awaitable<bool> send_reply(LegacyReply& reply);
  awaitable<bool> send_text(std::string_view text);
  awaitable<bool> wait_for_ack();
  template <class Value>
  awaitable<Value> on_worker(const std::function<Value()>& work);

  Link link_;
  LegacyFramer framer_;
};

}  // namespace fathom
