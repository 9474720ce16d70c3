// SPDX-License-Identifier: Apache-2.0
// A plain HTTP/1.1 client over TCP or a Unix socket: one connection, kept open, made anew when it
// broke. Several requests may be under way before the first answer is read. Belongs to one thread;
// blocks, but no longer than its timeout without a byte.
#pragma once

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
  Status connect();
  Status connect_socket();
  void set_patience(int socket) const;
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
  Fd socket_;
  std::string buffer_;
  size_t at_ = 0;
};

}  // namespace fathom
