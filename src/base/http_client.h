// SPDX-License-Identifier: Apache-2.0
// A plain HTTP/1.1 client over TCP or a Unix socket: one connection, kept open, made anew when it
// broke. Several requests may be in flight before the first response is read. Belongs to one
// thread; blocks, but no longer than its timeout without a byte, and call() no longer than its
// exchange limit.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace fathom {

struct HttpUrl {
  std::string host, port;
  std::string path;         // without a slash at its end
  std::string socket = {};  // of a Unix socket, instead of host and port

  static HttpUrl of_socket(std::string file, std::string path);
  // "http://host[:port][/path]", or host:port alone.
  static Result<HttpUrl> parse(const std::string& text, const std::string& default_port);
  [[nodiscard]] std::string text() const;
};

struct HttpAnswer {
  int status = 0;
  std::string type, body;
};

// "a b" as "a%20b".
std::string url_quote(std::string_view text);

class HttpClient {
 public:
  HttpClient(HttpUrl url, std::string token, int timeout_ms = 60'000)
      : url_(std::move(url)), token_(std::move(token)), timeout_ms_(timeout_ms) {}

  // The time of a whole call(), from looking up the host to the last byte; 0: no limit.
  void set_exchange_limit_ns(int64_t limit_ns) { exchange_limit_ns_ = limit_ns; }
  // A response with a longer body is an error. Streams have no limit.
  void set_max_body_bytes(size_t bytes) { max_body_bytes_ = bytes; }
  // Everything that blocks fails with kIo soon after *stop became true, on any thread.
  void stop_when(const std::atomic<bool>* stop) { stop_ = stop; }

  // Sends and receives. kIo: whether it was carried out is not known.
  Result<HttpAnswer> call(std::string_view method, std::string_view target,
                          std::string_view type = {}, std::string_view body = {});
  // As call, but the body of an answer of 200 is given part by part.
  using Take = std::function<Status(std::string_view)>;
  Result<HttpAnswer> stream(std::string_view target, const Take& take);

  // Halves of call, for several at a time.
  Status send(std::string_view method, std::string_view target, std::string_view type,
              std::string_view body);
  Result<HttpAnswer> receive();
  void drop();
  [[nodiscard]] const HttpUrl& url() const { return url_; }

 private:
  struct Head {
    int status = 0;
    std::string type;
    bool chunked = false, close = false, sized = false;
    uint64_t length = 0;
  };
  Result<HttpAnswer> call_once(std::string_view method, std::string_view target,
                               std::string_view type, std::string_view body);
  Status connect();
  Status connect_socket();
  Status connect_to(const void* address, unsigned size, int family, int type, int protocol);
  // Until the socket is ready for `events` of poll(2).
  Status wait_for(int socket, short events, const char* late);
  Status write(std::string_view bytes);
  // More bytes into buffer_; false: the peer has ended.
  Result<bool> fill();
  Result<std::string> line();
  Result<Head> read_head();
  Status read_body(const Head& head, const Take& take);
  Status read_sized(uint64_t length, const Take& take);
  Status read_chunks(const Take& take);
  Error broken(std::string_view why);

  HttpUrl url_;
  std::string token_;
  int timeout_ms_;
  int64_t exchange_limit_ns_ = 0;
  int64_t give_up_ns_ = INT64_MAX;  // the end of the call in progress
  size_t max_body_bytes_ = size_t{64} << 20;
  const std::atomic<bool>* stop_ = nullptr;
  Fd socket_;
  std::string buffer_;
  size_t at_ = 0;
};

}  // namespace fathom
