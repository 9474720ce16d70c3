// SPDX-License-Identifier: Apache-2.0
// A connection to a Redis server, made when it is first needed and again after it broke. Belongs to
// one thread at a time. An error of the connection is kIo: whether the command was carried out is
// not known. One that the server answered is kNoSpace (no memory), kPermission or kInvalid.
#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

struct RedisAddress {
  std::string host = "127.0.0.1";
  int port = 6379;
  int db = 0;
  std::string user, password;

  static Result<RedisAddress> parse(const std::string& url);
  // For messages: without the password.
  [[nodiscard]] std::string text() const;
};

struct RedisFree {
  void operator()(void* reply) const { freeReplyObject(reply); }
};
using RedisReply = std::unique_ptr<redisReply, RedisFree>;

std::string_view redis_text(const redisReply& reply);
int64_t redis_number(const redisReply& reply);

class Redis {
 public:
  using Words = std::vector<std::string_view>;

  explicit Redis(RedisAddress address, int timeout_ms = 10'000)
      : address_(std::move(address)), timeout_ms_(timeout_ms) {}

  Result<RedisReply> command(const Words& words);
  // As command(), of one that may be given twice: once more where the server had ended the
  // connection, as one that was started anew has.
  Result<RedisReply> read(const Words& words);
  // Whether the server responds, but serves nothing before it has loaded its data.
  Result<bool> is_loading();
  // All are sent before the first answer is read. An answer may be an error of the server's.
  Result<std::vector<RedisReply>> pipeline(const std::vector<Words>& commands);
  void drop() { context_.reset(); }

  static Error answer_error(const redisReply& reply);

 private:
  Status connect();
  Status greet();
  Result<RedisReply> ask(const Words& words);
  Status append(const Words& words);
  Result<RedisReply> next_reply();
  Error broken(const char* doing);

  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  RedisAddress address_;
  int timeout_ms_;
  std::unique_ptr<redisContext, Free> context_;
  bool was_ended_ = false;  // by the server, when the connection last broke
};

}  // namespace fathom
