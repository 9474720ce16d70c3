// SPDX-License-Identifier: Apache-2.0
#include "store/redis.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/text.h"

namespace fathom {
namespace {

constexpr const char* kHint = "redis://[user[:password]@]host[:port][/db]";

// %41 and the like.
std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto digit = [&](size_t place) {
      const char byte = place < text.size() ? text[place] : ' ';
      if (byte >= '0' && byte <= '9') return byte - '0';
      const char low = static_cast<char>(byte | 0x20);
      return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
    };
    if (text[at] == '%' && digit(at + 1) >= 0 && digit(at + 2) >= 0) {
      out += static_cast<char>(digit(at + 1) * 16 + digit(at + 2));
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

}  // namespace

Result<RedisAddress> RedisAddress::parse(const std::string& url) {
  constexpr std::string_view kScheme = "redis://";
  const Error wrong{Code::kInvalid, "this is no address of a Redis server", kHint};
  if (!url.starts_with(kScheme)) return wrong;
  std::string_view rest = std::string_view(url).substr(kScheme.size());
  RedisAddress address;
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view who = rest.substr(0, at);
    const size_t colon = who.find(':');
    address.user = unescaped(who.substr(0, colon));
    if (colon != std::string_view::npos) address.password = unescaped(who.substr(colon + 1));
    rest = rest.substr(at + 1);
  }
  if (const size_t slash = rest.find('/'); slash != std::string_view::npos) {
    const auto db = parse_number(slash + 1 < rest.size() ? rest.substr(slash + 1) : "0");
    if (!db.ok() || db.value() < 0 || db.value() > 65535) return wrong;
    address.db = static_cast<int>(db.value());
    rest = rest.substr(0, slash);
  }
  if (const size_t colon = rest.rfind(':');
      colon != std::string_view::npos && !rest.ends_with(']')) {
    const auto port = parse_number(rest.substr(colon + 1));
    if (!port.ok() || port.value() < 1 || port.value() > 65535) return wrong;
    address.port = static_cast<int>(port.value());
    rest = rest.substr(0, colon);
  }
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  if (!rest.empty()) address.host = rest;
  return address;
}

std::string RedisAddress::text() const { return fmt::format("redis://{}:{}/{}", host, port, db); }

std::string_view redis_text(const redisReply& reply) {
  return reply.str == nullptr ? std::string_view() : std::string_view(reply.str, reply.len);
}

int64_t redis_number(const redisReply& reply) {
  if (reply.type == REDIS_REPLY_INTEGER) return reply.integer;
  return parse_number(redis_text(reply)).value_or(0);
}

Error Redis::answer_error(const redisReply& reply) {
  const std::string_view text = redis_text(reply);
  Code code = Code::kInvalid;
  if (text.starts_with("OOM") || text.find("OOM command") != std::string_view::npos)
    code = Code::kNoSpace;
  for (const char* passing : {"LOADING", "BUSY", "MISCONF", "READONLY", "TRYAGAIN", "MASTERDOWN"})
    if (text.starts_with(passing)) code = Code::kIo;
  for (const char* who : {"NOAUTH", "WRONGPASS", "NOPERM"})
    if (text.starts_with(who)) code = Code::kPermission;
  return Error{code, "Redis: " + printable(text.substr(0, 300))};
}

Error Redis::broken(const char* doing) {
  const bool is_slow = context_ && context_->err == REDIS_ERR_IO && errno == EAGAIN;
  was_ended_ = !is_slow;
  if (is_slow) {
    context_.reset();
    return {Code::kIo, fmt::format("{} {}: it does not answer within {} s", doing, address_.text(),
                                   timeout_ms_ / 1000)};
  }
  Error error{Code::kIo, fmt::format("{} {}: {}", doing, address_.text(),
                                     context_ ? context_->errstr : "no memory")};
  context_.reset();
  return error;
}

Status Redis::connect() {
  if (context_) return {};
  const timeval patience{timeout_ms_ / 1000, (timeout_ms_ % 1000) * 1000};
  const timeval soon{2, 0};
  context_.reset(redisConnectWithTimeout(address_.host.c_str(), address_.port, soon));
  if (!context_ || context_->err != 0) return broken("connect to");
  redisSetTimeout(context_.get(), patience);
  redisEnableKeepAlive(context_.get());
  auto greeted = greet();
  if (!greeted.ok()) context_.reset();
  return greeted;
}

Status Redis::greet() {
  if (!address_.password.empty()) {
    Words words = {"AUTH"};
    if (!address_.user.empty()) words.push_back(address_.user);
    words.push_back(address_.password);
    TRY_ASSIGN(const RedisReply reply, ask(words));
    if (reply->type == REDIS_REPLY_ERROR) return answer_error(*reply).within(address_.text());
  }
  const std::string db = std::to_string(address_.db);
  TRY_ASSIGN(const RedisReply reply, ask({"SELECT", db}));
  if (reply->type == REDIS_REPLY_ERROR) return answer_error(*reply).within(address_.text());
  return {};
}

Result<bool> Redis::is_loading() {
  TRY(connect());
  TRY_ASSIGN(const RedisReply reply, ask({"EXISTS", "fathom"}));
  return reply->type == REDIS_REPLY_ERROR && redis_text(*reply).starts_with("LOADING");
}

Status Redis::append(const Words& words) {
  std::vector<const char*> texts;
  std::vector<size_t> sizes;
  texts.reserve(words.size());
  sizes.reserve(words.size());
  for (const std::string_view word : words) {
    texts.push_back(word.data() == nullptr ? "" : word.data());
    sizes.push_back(word.size());
  }
  if (redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(),
                             sizes.data()) != REDIS_OK)
    return broken("write to");
  return {};
}

Result<RedisReply> Redis::next_reply() {
  void* reply = nullptr;
  if (redisGetReply(context_.get(), &reply) != REDIS_OK || reply == nullptr) return broken("ask");
  return RedisReply(static_cast<redisReply*>(reply));
}

Result<RedisReply> Redis::ask(const Words& words) {
  TRY(append(words));
  return next_reply();
}

Result<RedisReply> Redis::command(const Words& words) {
  TRY(connect());
  TRY_ASSIGN(RedisReply reply, ask(words));
  if (reply->type == REDIS_REPLY_ERROR) return answer_error(*reply);
  return reply;
}

Result<RedisReply> Redis::read(const Words& words) {
  const bool kept = context_ != nullptr;
  auto reply = command(words);
  const bool again = !reply.ok() && kept && !context_ && was_ended_;
  return again ? command(words) : std::move(reply);
}

Result<std::vector<RedisReply>> Redis::pipeline(const std::vector<Words>& commands) {
  TRY(connect());
  for (const Words& words : commands) TRY(append(words));
  std::vector<RedisReply> replies;
  for (size_t i = 0; i < commands.size(); ++i) {
    TRY_ASSIGN(RedisReply reply, next_reply());
    replies.push_back(std::move(reply));
  }
  return replies;
}

}  // namespace fathom
