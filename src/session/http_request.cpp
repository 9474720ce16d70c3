// SPDX-License-Identifier: Apache-2.0
#include "session/http_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/scan.h"

namespace fathom {
namespace {

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
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

HttpRequest refused(int status) {
  HttpRequest request;
  request.refusal = status;
  return request;
}

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
          .path = std::string(target.substr(0, target.find('?'))),
          .host = {},
          .authorization = {},
          .accept = {}};
}

// Compared without case, as names of header fields are.
bool is_named(std::string_view name, std::string_view wanted) {
  return name.size() == wanted.size() && std::equal(name.begin(), name.end(), wanted.begin(),
                                                    [](char a, char b) { return (a | 0x20) == b; });
}

// The fields that are used; false if the request is malformed or ambiguous.
bool read_fields(std::string_view lines, HttpRequest& request) {
  bool has_host = false;
  for (size_t end; !lines.empty(); lines.remove_prefix(std::min(end + 2, lines.size()))) {
    end = std::min(lines.find("\r\n"), lines.size());
    const std::string_view line = lines.substr(0, end);
    const size_t colon = line.find(':');
    if (line.empty() || line.front() == ' ' || line.front() == '\t' ||
        colon == std::string_view::npos)
      return false;
    const std::string_view name = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
    if (is_named(name, "host")) {
      if (std::exchange(has_host, true)) return false;
      request.host = value;
    }
    if (is_named(name, "authorization")) request.authorization = value;
    if (is_named(name, "accept"))
      request.accept += (request.accept.empty() ? "" : ",") + std::string(value);
  }
  return true;
}

}  // namespace

std::optional<HttpRequest> parse_http_request(std::string_view bytes) {
  const size_t line_end = bytes.find("\r\n");
  // What cannot become a request need not be waited for.
  if (!bytes.empty() && (bytes[0] < 'A' || bytes[0] > 'Z')) return refused(400);
  if (bytes.find("\r\n\r\n") == std::string_view::npos)
    return bytes.size() > kMostRequestBytes ? std::optional(refused(431)) : std::nullopt;
  HttpRequest request = parse_first_line(bytes.substr(0, line_end));
  const size_t fields = line_end + 2, end = bytes.find("\r\n\r\n");
  if (request.refusal == 0 && end > line_end &&
      !read_fields(bytes.substr(fields, end - fields), request))
    return refused(400);
  return request;
}

std::string http_answer(int status, std::string_view type, std::string_view body, bool head) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}"
      "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{}",
      status, reason_of(status), type, body.size(),
      status == 405   ? "Allow: GET, HEAD\r\n"
      : status == 401 ? "WWW-Authenticate: Bearer\r\n"
                      : "",
      head ? "" : body);
}

}  // namespace fathom
