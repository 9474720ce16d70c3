// SPDX-License-Identifier: Apache-2.0
// Each co_await stands in a statement of its own: with some inside conditions, what GCC 12 made of
// this crashed (docs/design/0008).
#include "hub/connection.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio.hpp>
#include <boost/beast/http.hpp>

#include "base/clock.h"
#include "base/text.h"
#include "hub/legacy_client.h"
#include "hub/route_list.h"

namespace fathom {
namespace {

constexpr size_t kMostInFlight = 32;  // requests of one connection
// As much as one read(2) may take: as much as the buffer has room for.
constexpr size_t kLeastReadBytes = 4 << 10, kMostReadBytes = 64 << 10;
constexpr int64_t kWriteNs = 60 * kNsPerSecond;
constexpr int64_t kSlowestBytesPerSecond = 50'000;
constexpr int64_t kBodyGraceNs = 20 * kNsPerSecond;
constexpr int kEventBufferBytes = 128 << 10;  // in the kernel, for a peer that does not read
constexpr auto kHeartbeat = std::chrono::seconds(15);

std::string_view bytes_in(const boost::beast::flat_buffer& buffer) {
  return {static_cast<const char*>(buffer.data().data()), buffer.size()};
}

std::string address_of(const Socket& socket) {
  error_code failed;
  return socket.remote_endpoint(failed).address().to_string();
}

}  // namespace

Connection::Connection(Network& network, Socket socket, std::unique_ptr<PeerLimit::Place> place)
    : network_(network),
      hub_(network.hub),
      place_(std::move(place)),
      is_legacy_peer_(is_in_any(hub_.options().legacy_clients, address_of(socket))),
      socket_(std::move(socket)),
      changed_(socket_.get_executor(), Event::time_point::max()),
      room_(socket_.get_executor(), Event::time_point::max()),
      parsing_(net::make_strand(network.parsers)),
      read_by_ns_(idle_end_ns()) {}

int64_t Connection::idle_end_ns() const {
  const HubOptions& options = hub_.options();
  const bool is_short = place_ != nullptr && !is_legacy_peer_;
  return monotonic_ns() + (is_short ? options.header_ns : options.idle_ns);
}

Connection::~Connection() { --hub_.counts().connections; }

void Connection::start() {
  auto self = shared_from_this();
  net::co_spawn(
      socket_.get_executor(), [self]() -> awaitable<void> { co_await self->read_all(); },
      net::detached);
  net::co_spawn(
      socket_.get_executor(), [self]() -> awaitable<void> { co_await self->write_all(); },
      net::detached);
}

void Connection::check(int64_t now_ns, bool stopping) {
  const bool late = now_ns > read_by_ns_ || now_ns > write_by_ns_;
  if (!late && !stopping) return;
  net::post(socket_.get_executor(), [self = shared_from_this(), late] {
    // What is under way may come to its end; the reader then takes no more.
    if (!late && !self->watching_ && (!self->slots_.empty() || self->receiving_)) {
      self->no_more_ = true;
      return;
    }
    if (late) ++self->hub_.counts().timeouts;
    self->end();
  });
}

void Connection::end() {
  ended_ = no_more_ = true;
  error_code ignored;
  socket_.close(ignored);
  changed_.cancel();
  room_.cancel();
}

void Connection::refuse(HttpReply reply, bool close) {
  auto slot = std::make_shared<Slot>(hub_);
  slot->reply = std::move(reply);
  slot->close = close;
  slots_.push_back(std::move(slot));
  changed_.cancel();
}

awaitable<void> Connection::read_all() {
  while (!no_more_) {
    const Step step = co_await read_one();
    if (step == Step::kEnd) break;
    while (slots_.size() >= kMostInFlight && !ended_) {
      error_code ignored;
      co_await room_.async_wait(into(ignored));
    }
  }
  no_more_ = true;
  read_by_ns_ = INT64_MAX;
  changed_.cancel();
}

awaitable<bool> Connection::read_more(size_t max_bytes) {
  const size_t space = max_bytes - std::min(max_bytes, buffer_.size());
  error_code failed;
  const size_t got = co_await socket_.async_read_some(
      buffer_.prepare(std::min(std::max(space, kLeastReadBytes), kMostReadBytes)), into(failed));
  buffer_.commit(got);
  co_return !failed && got > 0;
}

awaitable<bool> Connection::read_header() {
  for (size_t searched = 0;;) {
    const std::string_view text = bytes_in(buffer_);
    if (!text.empty() && is_legacy_start(text[0]) && !began_) co_return true;
    const HeaderState state = find_header(text, searched);
    if (state == HeaderState::kComplete) co_return true;
    if (state != HeaderState::kIncomplete) {
      ++hub_.counts().refused;
      refuse(state == HeaderState::kTooLong ? error_reply(431, "the header is too long")
                                            : error_reply(400, "invalid HTTP/1.1 request"),
             true);
      co_return false;
    }
    const bool more = co_await read_more(kMaxHeaderBytes);
    if (!more) co_return false;
  }
}

awaitable<Connection::Step> Connection::read_one() {
  read_by_ns_ = slots_.empty() ? idle_end_ns() : INT64_MAX;
  if (buffer_.size() == 0) {
    buffer_.shrink_to_fit();  // an idle connection costs little
    error_code failed;
    co_await socket_.async_wait(Socket::wait_read, into(failed));
    if (failed || no_more_) co_return Step::kEnd;
  }
  read_by_ns_ = monotonic_ns() + hub_.options().header_ns;
  const bool complete = co_await read_header();
  if (!complete) co_return Step::kEnd;
  if (is_legacy_start(bytes_in(buffer_).front())) {
    place_.reset();  // it serves permitted addresses only
    LegacyClient client({network_, socket_, buffer_, read_by_ns_, write_by_ns_, no_more_,
                         receiving_, shared_from_this()});
    co_await client.serve();
    co_return Step::kEnd;
  }
  began_ = true;
  Parser parser;
  parser.body_limit(hub_.options().most_body_bytes);
  size_t header_bytes = 0;
  auto invalid = parse_header(parser, bytes_in(buffer_), header_bytes);
  buffer_.consume(header_bytes);
  if (invalid) {
    ++hub_.counts().refused;
    refuse(std::move(*invalid), true);
    co_return Step::kEnd;
  }
  ++hub_.counts().requests;
  const RequestHead header = head_of(parser);
  auto admitted = admit(hub_.options(), header);
  const bool has_body = parser.chunked() || parser.content_length().value_or(0) > 0;
  if (auto* refusal = std::get_if<HttpReply>(&admitted)) {
    // A body that was not read cannot be told from the next request.
    refuse(std::move(*refusal), has_body || parser.get().need_eof());
    co_return has_body ? Step::kEnd : Step::kGoOn;
  }
  if (is_authorized(hub_.options(), header.authorization)) place_.reset();
  auto slot = std::make_shared<Slot>(hub_);
  slot->head_only = parser.get().method() == http::verb::head;
  slot->close = !parser.get().keep_alive();
  slot->old = parser.get().version() < 11;
  if (has_body) {
    receiving_ = true;
    const Step step = co_await read_body(parser, *slot);
    receiving_ = false;
    if (step == Step::kEnd) co_return step;
  }
  read_by_ns_ = INT64_MAX;
  auto& good = std::get<Admitted>(admitted);
  good.call.body = std::move(parser.get().body());
  hub_.counts().bytes_in += static_cast<int64_t>(good.call.body.size());
  slots_.push_back(slot);
  hand_on(std::move(good), slot);
  co_return slot->close ? Step::kEnd : Step::kGoOn;
}

awaitable<Connection::Step> Connection::read_body(Parser& parser, Slot& slot) {
  const size_t length = parser.content_length().value_or(0);
  if (!slot.room.reach(length, hub_.options().most_pending_bytes)) {
    ++hub_.counts().turned_away;
    refuse(error_reply(503, "the hub has its hands full; try again"), true);
    co_return Step::kEnd;
  }
  if (parser.get()[http::field::expect] == "100-continue") {
    const bool said = co_await write_text("HTTP/1.1 100 Continue\r\n\r\n");
    if (!said) co_return Step::kEnd;
  }
  const int64_t begin_ns = monotonic_ns();
  buffer_.reserve(std::min(std::max(length, kLeastReadBytes), kMostReadBytes));
  while (!parser.is_done()) {
    const auto have = static_cast<int64_t>(parser.get().body().size());
    read_by_ns_ = begin_ns + kBodyGraceNs + have * (kNsPerSecond / kSlowestBytesPerSecond);
    error_code failed;
    co_await http::async_read_some(socket_, buffer_, parser, into(failed));
    if (failed) {
      if (failed == http::error::body_limit)
        refuse(error_reply(413, "the body is too long"), true);
      else if (failed.category() == make_error_code(http::error::bad_chunk).category() &&
               failed != http::error::partial_message)
        refuse(error_reply(400, "the body makes no sense: " + failed.message()), true);
      co_return Step::kEnd;
    }
    if (!slot.room.reach(parser.get().body().capacity(), hub_.options().most_pending_bytes)) {
      ++hub_.counts().turned_away;
      refuse(error_reply(503, "the hub has its hands full; try again"), true);
      co_return Step::kEnd;
    }
  }
  co_return Step::kGoOn;
}

void Connection::hand_on(Admitted admitted, const std::shared_ptr<Slot>& slot) {
  Answer answer = [self = shared_from_this(), slot](HttpReply reply) {
    net::post(self->socket_.get_executor(), [self, slot, reply = std::move(reply)]() mutable {
      slot->reply = std::move(reply);
      self->changed_.cancel();
    });
  };
  const Route* route = admitted.route;
  const bool parses = (route->flags & Route::kParses) != 0;
  const bool is_short = is_short_body(admitted.call);
  if (parses && parses_ == 0 && is_short)
    return route->handle(hub_, std::move(admitted.call), answer);
  if (parses || !is_short) {
    ++parses_;
    net::post(parsing_, [self = shared_from_this(), route, call = std::move(admitted.call),
                         answer]() mutable {
      route->handle(self->hub_, std::move(call), answer);
      net::post(self->socket_.get_executor(), [self] { --self->parses_; });
    });
    return;
  }
  const bool blocks = (route->flags & Route::kBlocks) != 0;
  if (!parses && !blocks) return route->handle(hub_, std::move(admitted.call), answer);
  net::post(network_.workers, [route, hub = &hub_, call = std::move(admitted.call),
                               answer]() mutable { route->handle(*hub, std::move(call), answer); });
}

awaitable<void> Connection::write_all() {
  while (!ended_) {
    if (slots_.empty() && no_more_) break;
    if (slots_.empty() || !slots_.front()->reply) {
      error_code ignored;
      co_await changed_.async_wait(into(ignored));
      continue;
    }
    const auto slot = slots_.front();
    const bool written = co_await write_reply(*slot);
    if (!written || slot->close) break;
    slots_.pop_front();
    room_.cancel();
    if (slots_.empty() && !no_more_ && read_by_ns_ == INT64_MAX) read_by_ns_ = idle_end_ns();
  }
  if (!ended_) {  // lets the peer read to the end what it was told
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    write_by_ns_ = monotonic_ns() + 2 * kNsPerSecond;
    std::array<char, 4096> sink;
    while (!ignored && !ended_) co_await socket_.async_read_some(net::buffer(sink), into(ignored));
  }
  end();
}

awaitable<bool> Connection::write_text(std::string_view text) {
  write_by_ns_ = monotonic_ns() + kWriteNs;
  error_code failed;
  co_await net::async_write(socket_, net::buffer(text.data(), text.size()), into(failed));
  write_by_ns_ = INT64_MAX;
  co_return !failed;
}

awaitable<bool> Connection::write_reply(Slot& slot) {
  HttpReply& reply = *slot.reply;
  if (reply.status >= 400) ++hub_.counts().refused;
  if (network_.stopping) slot.close = true;
  http::response<http::empty_body> head(static_cast<http::status>(reply.status), 11);
  head.set(http::field::content_type, reply.type);
  head.set("X-Content-Type-Options", "nosniff");
  head.set(http::field::cache_control, "no-store");
  for (const auto& [name, value] : reply.headers) head.set(name, value);
  if (reply.events && !slot.head_only) {
    const bool written = co_await write_events(reply, head);
    co_return written;
  }
  if (reply.more && !slot.head_only) {
    const bool written = co_await write_parts(slot, head);
    co_return written;
  }
  http::response<http::string_body> whole(std::move(head));
  whole.body() = std::move(reply.body);
  whole.prepare_payload();
  whole.keep_alive(!slot.close);
  write_by_ns_ = monotonic_ns() + kWriteNs;
  http::response_serializer<http::string_body> serializer(whole);
  error_code failed;
  if (slot.head_only)
    co_await http::async_write_header(socket_, serializer, into(failed));
  else
    co_await http::async_write(socket_, serializer, into(failed));
  write_by_ns_ = INT64_MAX;
  co_return !failed;
}

// Part by part, each made beside the network threads.
awaitable<bool> Connection::write_parts(Slot& slot, http::response<http::empty_body>& head) {
  const bool chunks = !slot.old;
  slot.close = slot.close || !chunks;
  head.chunked(chunks);
  head.keep_alive(!slot.close);
  http::response_serializer<http::empty_body> serializer(head);
  error_code failed;
  write_by_ns_ = monotonic_ns() + kWriteNs;
  co_await http::async_write_header(socket_, serializer, into(failed));
  while (!failed && !ended_) {
    auto part = std::make_shared<std::optional<Result<std::string>>>();
    net::post(network_.workers, [self = shared_from_this(), part, &reply = *slot.reply] {
      auto made = std::make_shared<Result<std::string>>(reply.more());
      net::post(self->socket_.get_executor(), [self, part, made] {
        *part = std::move(*made);
        self->changed_.cancel();
      });
    });
    while (!part->has_value()) {
      error_code ignored;
      co_await changed_.async_wait(into(ignored));
    }
    // An error here cuts the answer short: no last chunk tells the peer so.
    if (!(**part).ok()) co_return false;
    const std::string& text = (**part).value();
    const std::string chunk = chunks ? fmt::format("{:x}\r\n{}\r\n", text.size(), text) : text;
    const bool written = co_await write_text(chunk);
    if (!written) co_return false;
    if (text.empty()) co_return true;
  }
  co_return false;
}

awaitable<bool> Connection::write_events(HttpReply& reply, http::response<http::empty_body>& head) {
  watching_ = true;
  read_by_ns_ = INT64_MAX;
  error_code ignored;
  socket_.set_option(net::socket_base::send_buffer_size(kEventBufferBytes), ignored);
  head.set(http::field::connection, "close");
  http::response_serializer<http::empty_body> serializer(head);
  error_code failed;
  write_by_ns_ = monotonic_ns() + kWriteNs;
  co_await http::async_write_header(socket_, serializer, into(failed));
  if (failed) co_return false;
  const bool greeted = co_await write_text(": fathom\n\n");
  if (!greeted) co_return false;
  reply.events->on_event([weak = weak_from_this()] {
    if (auto self = weak.lock())
      net::post(self->socket_.get_executor(), [self] { self->changed_.cancel(); });
  });
  while (!ended_ && !no_more_) {
    if (reply.events->is_broken()) break;
    const bool last = reply.events->has_ended();
    std::string text = reply.events->take();
    if (text.empty() && last) break;
    if (text.empty()) {
      changed_.expires_after(kHeartbeat);
      error_code cancelled;
      co_await changed_.async_wait(into(cancelled));
      changed_.expires_at(Event::time_point::max());
      text = reply.events->take();
      if (text.empty() && !cancelled) text = ": alive\n\n";
    }
    if (text.empty()) continue;
    const bool written = co_await write_text(text);
    if (!written) break;
  }
  reply.events->on_event({});
  co_return false;
}

}  // namespace fathom
