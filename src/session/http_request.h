// SPDX-License-Identifier: Apache-2.0
// As much of HTTP/1.1 as a page needs that is only read: one request a connection, without a body.
// Pure functions: any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {

constexpr size_t kMostRequestBytes = 8192;

struct HttpRequest {
  int refusal = 0;  // 0: a good one; else the status to answer with
  bool head = false;
  std::string path;                         // without what follows a question mark
  std::string host, authorization, accept;  // header fields; empty where absent
};

// Absent: it has not all come yet.
std::optional<HttpRequest> parse_http_request(std::string_view bytes);

// A whole answer that ends the connection.
std::string http_answer(int status, std::string_view type, std::string_view body, bool head);

}  // namespace fathom
