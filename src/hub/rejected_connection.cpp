// SPDX-License-Identifier: Apache-2.0
#include "hub/rejected_connection.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <memory>
#include <boost/asio.hpp>

#include "hub/http.h"

namespace fathom {
namespace {

constexpr auto kLinger = std::chrono::seconds(1);
constexpr int kMaxRejected = 256;

// Everything runs on the strand of the socket.
class Rejected : public std::enable_shared_from_this<Rejected> {
 public:
  Rejected(Network& network, Socket socket)
      : network_(network), socket_(std::move(socket)), end_(socket_.get_executor(), kLinger) {}
  ~Rejected() { --network_.rejected; }
  Rejected(const Rejected&) = delete;
  Rejected& operator=(const Rejected&) = delete;

  Socket::executor_type executor() { return socket_.get_executor(); }
  void respond(std::string_view why) {
    const HttpReply reply = error_reply(503, why);
    const std::string text = fmt::format(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
        "Retry-After: 1\r\nConnection: close\r\n\r\n{}",
        reply.type, reply.body.size(), reply.body);
    error_code ignored;
    socket_.non_blocking(true, ignored);
    socket_.send(net::buffer(text), 0, ignored);  // fits into the empty buffer of a new socket
    socket_.shutdown(Socket::shutdown_send, ignored);
    end_.async_wait([self = shared_from_this()](error_code) {
      error_code closed;
      self->socket_.close(closed);
    });
    read();
  }

 private:
  // Unread bytes would turn the close into a reset, with which the peer may lose the response.
  void read() {
    socket_.async_read_some(net::buffer(buffer_),
                            [self = shared_from_this()](error_code failed, size_t) {
                              if (failed)
                                self->end_.cancel();
                              else
                                self->read();
                            });
  }

  Network& network_;
  Socket socket_;
  Event end_;
  std::array<char, 1024> buffer_;
};

}  // namespace

void reject_connection(Network& network, Socket socket, std::string_view why) {
  if (++network.rejected > kMaxRejected) {
    --network.rejected;
    return;  // closes it
  }
  auto rejected = std::make_shared<Rejected>(network, std::move(socket));
  net::post(rejected->executor(), [rejected, why = std::string(why)] { rejected->respond(why); });
}

}  // namespace fathom
