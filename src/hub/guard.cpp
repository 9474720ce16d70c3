// SPDX-License-Identifier: Apache-2.0
#include "hub/guard.h"

#include <fmt/format.h>

#include "base/http_host.h"
#include "base/text.h"

namespace fathom {
namespace {

// A page of somebody else's, opened in a browser of this machine, sends its own origin.
bool is_foreign_page(const RequestHead& head) {
  if (head.origin.empty()) return false;
  const size_t scheme = head.origin.find("://");
  return scheme == std::string_view::npos || head.origin.substr(scheme + 3) != head.host;
}

bool is_foreign_name(const HubOptions& options, const RequestHead& head) {
  return options.token.empty() && !is_own_host(head.host, {options.bind});
}

bool takes(const Route& route, std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  for (const std::string_view one : split_words(route.takes))
    if (type == one) return true;
  return false;
}

std::optional<HttpReply> check_body(const HubOptions& options, const Route& route,
                                    const RequestHead& head) {
  if (head.content_length.value_or(0) > options.most_body_bytes)
    return error_reply(413, fmt::format("a body has at most {} bytes", options.most_body_bytes));
  if (route.takes == nullptr) return std::nullopt;
  if (!head.content_encoding.empty() && head.content_encoding != "identity")
    return error_reply(415, "bodies are taken as they are, without Content-Encoding");
  const bool optional_body = head.content_length == 0U && head.content_type.empty();
  if (!optional_body && !takes(route, head.content_type))
    return error_reply(415, fmt::format("this takes {}", route.takes));
  return std::nullopt;
}

}  // namespace

bool is_authorized(const HubOptions& options, std::string_view authorization) {
  return options.token.empty() || carries_token(authorization, options.token);
}

std::variant<Admitted, HttpReply> admit(const HubOptions& options, const RequestHead& head) {
  auto target = parse_target(head.target);
  if (!target) return error_reply(400, "the path makes no sense");
  Matched matched = match_route(head.method, target->path);
  const bool open = matched.route != nullptr && (matched.route->flags & Route::kOpen) != 0;
  if (!open && !is_authorized(options, head.authorization)) {
    HttpReply reply =
        head.authorization.empty()
            ? error_reply(401, "a token is needed", "Authorization: Bearer TOKEN")
            : error_reply(401, "the token is not the hub's", "it was started with another one");
    reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    return reply;
  }
  if (!open && is_foreign_name(options, head))
    return error_reply(403,
                       "a hub without a token answers to names of this machine only, not to " +
                           printable(head.host.substr(0, 200)),
                       "ask localhost or 127.0.0.1, or start the hub with a token");
  if (!open && is_foreign_page(head)) return error_reply(403, "pages of other origins may not ask");
  if (matched.route == nullptr) {
    if (matched.allowed.empty())
      return error_reply(404, "there is nothing at " + printable(target->path.substr(0, 200)));
    HttpReply reply = error_reply(405, "this is done with " + matched.allowed);
    reply.headers.emplace_back("Allow", matched.allowed);
    return reply;
  }
  if (auto refused = check_body(options, *matched.route, head)) return std::move(*refused);
  Admitted admitted;
  admitted.route = matched.route;
  admitted.call.method = head.method;
  admitted.call.path = target->path;
  admitted.call.query = std::move(target->query);
  admitted.call.content_type = head.content_type;
  admitted.call.accept = head.accept;
  admitted.call.parts = std::move(matched.parts);
  return admitted;
}

}  // namespace fathom
