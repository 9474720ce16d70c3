// SPDX-License-Identifier: Apache-2.0
// One connection of the hub.
#pragma once

#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>

#include "hub/guard.h"
#include "hub/hub.h"
#include "hub/network.h"
#include "hub/peer_limit.h"
#include "hub/request_header.h"

namespace fathom {

namespace http = boost::beast::http;

// A request's place in the order of answers.
struct Slot {
  explicit Slot(Hub& hub) : room(hub.counts()) {}
  Held room;  // of its body
  std::optional<HttpReply> reply;
  bool head_only = false, close = false, old = false;
};

// One connection: a reader that hands requests on, several at a time, and a writer that answers in
// their order. Everything of it runs on its strand, but for deadlines, which the sweeper reads.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `place`: among the connections of this peer from which no request was admitted yet.
  Connection(Network& network, Socket socket, std::unique_ptr<PeerLimit::Place> place);
  ~Connection();
  void start();
  // From the sweeper: ends it if its time is over, or if the hub stops and nothing is under way.
  void check(int64_t now_ns, bool stopping);

 private:
  enum class Step { kGoOn, kEnd };
  awaitable<void> read_all();
  awaitable<Step> read_one();
  // More bytes into buffer_, which may hold `max_bytes`. False: the peer has ended or failed.
  awaitable<bool> read_more(size_t max_bytes);
  // Reads until buffer_ holds a complete header. False: refused, or the peer has gone.
  awaitable<bool> read_header();
  awaitable<Step> read_body(Parser& parser, Slot& slot);
  awaitable<void> write_all();
  awaitable<bool> write_reply(Slot& slot);
  awaitable<bool> write_parts(Slot& slot, http::response<http::empty_body>& head);
  awaitable<bool> write_events(HttpReply& reply, http::response<http::empty_body>& head);
  awaitable<bool> write_text(std::string_view text);
  // Until when the next request must begin.
  [[nodiscard]] int64_t idle_end_ns() const;
  void hand_on(Admitted admitted, const std::shared_ptr<Slot>& slot);
  void refuse(HttpReply reply, bool close);
  void end();

  Network& network_;
  Hub& hub_;
  std::unique_ptr<PeerLimit::Place> place_;  // null: a request was admitted
  const bool is_legacy_peer_;                // these connect long before they send
  Socket socket_;
  boost::beast::flat_buffer buffer_;
  std::deque<std::shared_ptr<Slot>> slots_;
  Event changed_, room_;                                  // for the writer; for the reader
  net::strand<net::thread_pool::executor_type> parsing_;  // of its long bodies, in order
  std::atomic<int64_t> read_by_ns_, write_by_ns_{INT64_MAX};
  bool no_more_ = false, ended_ = false, watching_ = false;
  bool receiving_ = false;  // the body of a request, or a legacy message in progress
  int parses_ = 0;          // of them waiting or in progress
  bool began_ = false;      // a request was received
};

}  // namespace fathom
