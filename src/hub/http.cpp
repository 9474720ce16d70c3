// SPDX-License-Identifier: Apache-2.0
#include "hub/http.h"

#include <fmt/format.h>

#include "base/text.h"

namespace fathom {
namespace {

int hex_digit(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  const char low = static_cast<char>(byte | 0x20);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

std::optional<std::string> unescaped(std::string_view text, bool plus_is_space) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%') {
      if (at + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[at + 1]), low = hex_digit(text[at + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      at += 2;
    } else {
      out += plus_is_space && text[at] == '+' ? ' ' : text[at];
    }
  }
  return out;
}

std::vector<std::string_view> segments(std::string_view path) {
  std::vector<std::string_view> found;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const size_t end = std::min(path.find('/'), path.size());
    found.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return found;
}

std::optional<std::vector<std::string>> match(std::string_view pattern, std::string_view path) {
  const auto want = segments(pattern), have = segments(path);
  if (want.size() != have.size()) return std::nullopt;
  std::vector<std::string> parts;
  for (size_t i = 0; i < want.size(); ++i) {
    if (want[i].starts_with('{')) {
      auto text = unescaped(have[i], false);
      if (!text || text->empty()) return std::nullopt;
      parts.push_back(std::move(*text));
    } else if (want[i] != have[i]) {
      return std::nullopt;
    }
  }
  return parts;
}

int status_of(Code code) {
  switch (code) {
    case Code::kInvalid:
    case Code::kCorrupt:
      return 400;
    case Code::kNotFound:
      return 404;
    case Code::kExists:
      return 409;
    case Code::kPermission:
      return 403;
    case Code::kUnsupported:
      return 501;
    case Code::kIo:
      return 503;
    case Code::kNoSpace:
      return 507;
    default:
      return 500;
  }
}

}  // namespace

std::string HttpCall::value(std::string_view name) const {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

Result<int64_t> HttpCall::number(std::string_view name, int64_t fallback) const {
  const auto found = query.find(name);
  if (found == query.end()) return fallback;
  auto number = parse_number(found->second);
  if (!number.ok()) return std::move(number).error().within(name);
  return number;
}

Matched match_route(std::string_view method, std::string_view path) {
  Matched matched;
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  for (const Route& route : all_routes()) {
    auto parts = match(route.path, path);
    if (!parts) continue;
    if (wanted == route.method) {
      matched.route = &route;
      matched.parts = std::move(*parts);
      return matched;
    }
    matched.allowed += (matched.allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  return matched;
}

HttpReply json_reply(int status, std::string body) {
  HttpReply reply;
  reply.status = status;
  reply.body = std::move(body) + "\n";
  return reply;
}

HttpReply error_reply(int status, std::string_view message, std::string_view hint) {
  const std::string more = hint.empty() ? "" : ",\"hint\":" + json_quote(hint);
  HttpReply reply =
      json_reply(status, fmt::format("{{\"error\":{}{}}}", json_quote(message), more));
  if (status == 503 || status == 507) reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

HttpReply error_reply(const Error& error) {
  return error_reply(status_of(error.code), error.message, error.hint);
}

std::optional<Target> parse_target(std::string_view target) {
  if (target.empty() || target.front() != '/') return std::nullopt;
  target = target.substr(0, target.find('#'));
  const size_t mark = target.find('?');
  Target parsed;
  parsed.path = target.substr(0, mark);
  if (mark == std::string_view::npos) return parsed;
  for (const std::string_view pair : split_words(target.substr(mark + 1), '&')) {
    const size_t equals = pair.find('=');
    auto name = unescaped(pair.substr(0, equals), true);
    auto value = unescaped(equals == std::string_view::npos ? "" : pair.substr(equals + 1), true);
    if (!name || !value) return std::nullopt;
    parsed.query[*name] = std::move(*value);
  }
  return parsed;
}

}  // namespace fathom
