// SPDX-License-Identifier: Apache-2.0
#include "session/http_request.h"

#include <fmt/format.h>

namespace fathom {
namespace {

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Bad Request";
  }
}

HttpRequest refused(int status) { return {.refusal = status, .head = false, .path = {}}; }

bool is_method(std::string_view word) {
  if (word.empty() || word.size() > 20) return false;
  for (const char byte : word)
    if (byte < 'A' || byte > 'Z') return false;
  return true;
}

HttpRequest parse_first_line(std::string_view line) {
  const size_t first = line.find(' '), second = line.rfind(' ');
  if (first == std::string_view::npos || second <= first) return refused(400);
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, second - first - 1);
  const std::string_view version = line.substr(second + 1);
  if (!is_method(method) || target.empty() || target.front() != '/' ||
      target.find(' ') != std::string_view::npos || !version.starts_with("HTTP/"))
    return refused(400);
  if (!version.starts_with("HTTP/1.")) return refused(505);
  if (method != "GET" && method != "HEAD") return refused(405);
  return {.refusal = 0,
          .head = method == "HEAD",
          .path = std::string(target.substr(0, target.find('?')))};
}

}  // namespace

std::optional<HttpRequest> parse_http_request(std::string_view bytes) {
  const size_t line_end = bytes.find("\r\n");
  // What cannot become a request need not be waited for.
  if (!bytes.empty() && (bytes[0] < 'A' || bytes[0] > 'Z')) return refused(400);
  if (bytes.find("\r\n\r\n") == std::string_view::npos)
    return bytes.size() > kMostRequestBytes ? std::optional(refused(431)) : std::nullopt;
  return parse_first_line(bytes.substr(0, line_end));
}

std::string http_answer(int status, std::string_view type, std::string_view body, bool head) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}"
      "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{}",
      status, reason_of(status), type, body.size(), status == 405 ? "Allow: GET, HEAD\r\n" : "",
      head ? "" : body);
}

}  // namespace fathom
