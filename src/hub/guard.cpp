// SPDX-License-Identifier: Apache-2.0
#include "hub/guard.h"

#include <fmt/format.h>

#include "base/text.h"

namespace fathom {
namespace {

bool is_authorized(const HubOptions& options, const RequestHead& head) {
  constexpr std::string_view kBearer = "Bearer ";
  if (options.token.empty()) return true;
  return head.authorization.starts_with(kBearer) &&
         same_secret(head.authorization.substr(kBearer.size()), options.token);
}

// A page of somebody else's, opened in a browser of this machine, sends its own origin.
bool is_foreign_page(const RequestHead& head) {
  if (head.origin.empty()) return false;
  const size_t scheme = head.origin.find("://");
  return scheme == std::string_view::npos || head.origin.substr(scheme + 3) != head.host;
}

// "127.0.0.1:10000" without its port, in small letters.
std::string name_in(std::string_view host) {
  const size_t end = host.starts_with('[') ? host.find(']') : host.find(':');
  if (end != std::string_view::npos) host = host.substr(0, host[end] == ']' ? end + 1 : end);
  std::string name(host);
  for (char& byte : name)
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
  return name;
}

// A page whose name was made to mean this machine (DNS rebinding) has an origin that fits its Host;
// only the name gives it away. Without a Host it is no browser's.
bool is_foreign_name(const HubOptions& options, const RequestHead& head) {
  if (!options.token.empty() || head.host.empty()) return false;
  const std::string name = name_in(head.host);
  if (name == "localhost" || name == "[::1]") return false;
  if (name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string::npos)
    return false;
  return name.empty() || (name != name_in(options.bind) && name != "[" + options.bind + "]");
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

bool same_secret(std::string_view given, std::string_view wanted) {
  size_t differs = given.size() ^ wanted.size();
  for (size_t i = 0; i < given.size(); ++i)
    differs |=
        static_cast<unsigned char>(given[i] ^ wanted[wanted.empty() ? 0 : i % wanted.size()]);
  return differs == 0;
}

std::variant<Admitted, HttpReply> admit(const HubOptions& options, const RequestHead& head) {
  auto target = parse_target(head.target);
  if (!target) return error_reply(400, "the path makes no sense");
  Matched matched = match_route(head.method, target->path);
  const bool open = matched.route != nullptr && (matched.route->flags & Route::kOpen) != 0;
  if (!open && !is_authorized(options, head)) {
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
  admitted.call.parts = std::move(matched.parts);
  return admitted;
}

}  // namespace fathom
