// SPDX-License-Identifier: Apache-2.0
#include "hub/request_header.h"

#include <algorithm>
#include <string>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>

#include "base/text.h"

namespace fathom {
namespace {

namespace http = boost::beast::http;

bool is_letter(char byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'; }

// What makes the length of a message ambiguous, which a proxy might read otherwise (RFC 9112,
// 5.2 and 6.1; RFC 9110, 7.2).
std::optional<HttpReply> check_framing(const Parser& parser) {
  const auto& request = parser.get();
  const size_t encodings = request.count(http::field::transfer_encoding);
  const auto encoding = request[http::field::transfer_encoding];
  if (encodings > 1 || (encodings == 1 && request.version() < 11))
    return error_reply(400, "invalid Transfer-Encoding");
  if (encodings == 1 && !boost::beast::iequals(encoding, "chunked"))
    return error_reply(501,
                       "unsupported Transfer-Encoding '" +
                           printable({encoding.data(), std::min<size_t>(encoding.size(), 100)}) +
                           "': only chunked is supported");
  if (request.count(http::field::host) > 1)
    return error_reply(400, "more than one Host header field");
  return std::nullopt;
}

}  // namespace

HeaderState find_header(std::string_view bytes, size_t& searched) {
  if (bytes.empty()) return HeaderState::kIncomplete;
  if (!is_letter(bytes[0])) return HeaderState::kInvalid;
  const size_t end = bytes.find(kHeaderEnd, searched);
  searched = bytes.size() - std::min(bytes.size(), kHeaderEnd.size() - 1);
  if (std::min(end, bytes.size()) > kMaxHeaderBytes) return HeaderState::kTooLong;
  return end == std::string_view::npos ? HeaderState::kIncomplete : HeaderState::kComplete;
}

std::optional<HttpReply> parse_header(Parser& parser, std::string_view bytes, size_t& size) {
  const std::string_view header = bytes.substr(0, bytes.find(kHeaderEnd) + kHeaderEnd.size());
  size = header.size();
  if (header.find("\r\n ") != std::string_view::npos ||
      header.find("\r\n\t") != std::string_view::npos)
    return error_reply(400, "a header field is folded over several lines");
  parser.header_limit(kMaxHeaderBytes + kHeaderEnd.size());
  boost::system::error_code failed;
  parser.put(boost::asio::buffer(header.data(), header.size()), failed);
  if (failed == http::error::header_limit) return error_reply(431, "the header is too long");
  if (failed == http::error::body_limit) return error_reply(413, "the body is too long");
  if (failed) return error_reply(400, "invalid HTTP/1.1 request: " + failed.message());
  return check_framing(parser);
}

RequestHead head_of(const Parser& parser) {
  const auto& request = parser.get();
  const auto field = [&](http::field name) {
    const auto text = request[name];
    return std::string_view(text.data(), text.size());
  };
  RequestHead head;
  head.method = {request.method_string().data(), request.method_string().size()};
  head.target = {request.target().data(), request.target().size()};
  head.host = field(http::field::host);
  head.origin = field(http::field::origin);
  head.authorization = field(http::field::authorization);
  head.accept = field(http::field::accept);
  head.content_type = field(http::field::content_type);
  head.content_encoding = field(http::field::content_encoding);
  if (const auto length = parser.content_length()) head.content_length = *length;
  return head;
}

}  // namespace fathom
