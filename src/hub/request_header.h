// SPDX-License-Identifier: Apache-2.0
// Reads headers of HTTP/1.1 requests, and rejects those whose length another program in between
// might read differently. Stateless and thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// Beast asserts that the last chunk of a body arrives in one piece, which is up to the peer.
// Without the assertion it waits for the rest.
#define BOOST_DISABLE_ASSERTS
#include <boost/beast/http/parser.hpp>
#undef BOOST_DISABLE_ASSERTS
#include <boost/assert.hpp>
#include <boost/beast/http/string_body.hpp>

#include "hub/guard.h"
#include "hub/http.h"

namespace fathom {

using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

constexpr uint32_t kMaxHeaderBytes = 16 << 10;
constexpr std::string_view kHeaderEnd = "\r\n\r\n";

// What the first bytes of a connection or of the next request are. Call again with more bytes where
// the header is incomplete; `searched` must then be as it was left.
enum class HeaderState { kIncomplete, kComplete, kInvalid, kTooLong };
HeaderState find_header(std::string_view bytes, size_t& searched);

// Parses the complete header that `bytes` begin with. `size` becomes its length. The reply, if the
// request is rejected; the connection must then be closed.
std::optional<HttpReply> parse_header(Parser& parser, std::string_view bytes, size_t& size);

// What routes and the guard need of it. Refers to the parser.
RequestHead head_of(const Parser& parser);

}  // namespace fathom
