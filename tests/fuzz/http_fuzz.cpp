// SPDX-License-Identifier: Apache-2.0
// What arrives on a connection of a hub or of a metrics server, as requests over HTTP/1.1. Nothing
// may crash, requests must be the same however the bytes are split into segments, and what is
// accepted must have only one reading: that is checked against a second, simpler reader.
//
//   build/fuzz/fuzz/http_fuzz -max_total_time=120 CORPUS
#include <algorithm>
#include <cstdlib>
#include <vector>
#include <boost/asio/buffer.hpp>

#include "base/scan.h"
#include "base/text.h"
#include "hub/request_header.h"
#include "session/http_request.h"

namespace fathom {
namespace {

constexpr size_t kMaxBodyBytes = 64 << 10;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Request {
  std::string method, target, body;
  bool operator==(const Request&) const = default;
};
struct Reading {
  std::vector<Request> requests;
  int status = 0;  // of the response that ended the connection; 0: more bytes are needed
  bool operator==(const Reading&) const = default;
};

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& byte : small)
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte + ('a' - 'A'));
  return small;
}

// The values of a header field, by looking at lines only.
std::vector<std::string> values_of(std::string_view header, std::string_view name) {
  std::vector<std::string> values;
  size_t at = header.find("\r\n");
  while (at != std::string_view::npos && at + 2 < header.size()) {
    const size_t end = header.find("\r\n", at + 2);
    const std::string_view line = header.substr(at + 2, end - at - 2);
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && lower(line.substr(0, colon)) == name)
      values.emplace_back(trimmed(line.substr(colon + 1)));
    at = end;
  }
  return values;
}

// RFC 9112, 5.2 and 6, and RFC 9110, 7.2.
void check_accepted(std::string_view header, const Parser& parser) {
  const auto encodings = values_of(header, "transfer-encoding");
  const auto lengths = values_of(header, "content-length");
  require(values_of(header, "host").size() <= 1);
  require(header.find("\r\n ") == std::string_view::npos);
  require(header.find("\r\n\t") == std::string_view::npos);
  require(parser.chunked() == !encodings.empty());
  if (!encodings.empty())
    require(encodings.size() == 1 && lower(encodings[0]) == "chunked" && lengths.empty());
  if (lengths.empty()) return;
  require(parser.content_length().has_value());
  for (const std::string& value : lengths)
    for (const std::string_view one : split_words(value, ','))
      require(parse_number(trimmed(one)).value_or(-1) ==
              static_cast<int64_t>(*parser.content_length()));
}

void check_admission(const RequestHead& head) {
  HubOptions options;
  options.token = "0123456789abcdef";
  const auto admitted = admit(options, head);
  const auto* good = std::get_if<Admitted>(&admitted);
  if (good == nullptr) return require(std::get<HttpReply>(admitted).status >= 400);
  require(is_authorized(options, head.authorization) || (good->route->flags & Route::kOpen) != 0);
}

// One connection. `ends`: where segments end.
class Reader {
 public:
  Reading read(std::string_view bytes, const std::vector<size_t>& ends) {
    size_t from = 0;
    for (const size_t end : ends) {
      buffer_ += bytes.substr(from, end - from);
      from = end;
      while (reading_.status == 0 && step()) {
      }
      if (reading_.status != 0) break;
    }
    return std::move(reading_);
  }

 private:
  // False: more bytes are needed.
  bool step() {
    if (parser_) return read_body();
    switch (find_header(buffer_, searched_)) {
      case HeaderState::kIncomplete:
        return false;
      case HeaderState::kTooLong:
        reading_.status = 431;
        return true;
      case HeaderState::kInvalid:
        reading_.status = 400;
        return true;
      case HeaderState::kComplete:
        break;
    }
    searched_ = 0;
    parser_.emplace();
    parser_->body_limit(kMaxBodyBytes);
    size_t size = 0;
    if (const auto rejected = parse_header(*parser_, buffer_, size)) {
      require(rejected->status >= 400);
      reading_.status = rejected->status;
      return true;
    }
    require(size <= buffer_.size());
    check_accepted(std::string_view(buffer_).substr(0, size), *parser_);
    check_admission(head_of(*parser_));
    buffer_.erase(0, size);
    parser_->eager(true);
    return read_body();
  }

  bool read_body() {
    const bool has_body = parser_->chunked() || parser_->content_length().value_or(0) > 0;
    if (has_body && !parser_->is_done()) {
      if (buffer_.empty()) return false;
      boost::system::error_code failed;
      const size_t taken =
          parser_->put(boost::asio::buffer(buffer_.data(), buffer_.size()), failed);
      require(taken <= buffer_.size());
      buffer_.erase(0, taken);
      if (failed == boost::beast::http::error::need_more) return false;
      if (failed) {
        reading_.status = 400;
        return true;
      }
      if (!parser_->is_done()) return taken > 0;
    }
    const auto& message = parser_->get();
    require(message.body().size() <= kMaxBodyBytes);
    if (!parser_->chunked() && has_body)
      require(message.body().size() == parser_->content_length().value());
    reading_.requests.push_back(
        {std::string(message.method_string()), std::string(message.target()), message.body()});
    parser_.reset();
    return true;
  }

  std::string buffer_;
  size_t searched_ = 0;
  std::optional<Parser> parser_;
  Reading reading_;
};

// The metrics server reads until a request is complete, which no further byte then changes.
void read_metrics_request(std::string_view bytes) {
  const auto whole = parse_http_request(bytes);
  if (!whole) return;
  const size_t end = bytes.find(kHeaderEnd);
  if (whole->refusal != 0) return require(whole->refusal >= 400);
  require(end != std::string_view::npos);
  const std::string_view header = bytes.substr(0, end + kHeaderEnd.size());
  require(values_of(header, "host").size() <= 1);
  const auto alone = parse_http_request(header);
  require(alone && alone->path == whole->path && alone->host == whole->host);
  require(!parse_http_request(header.substr(0, header.size() - 1)));
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fathom;
  if (size == 0) return 0;
  // The first byte says where the bytes are split.
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Reading whole = Reader().read(bytes, {bytes.size()});
  const size_t step = std::max<size_t>(1, data[0]);
  std::vector<size_t> ends;
  for (size_t end = step; end < bytes.size() && ends.size() < 4096; end += step)
    ends.push_back(end);
  ends.push_back(bytes.size());
  require(Reader().read(bytes, ends) == whole);
  read_metrics_request(bytes);
  return 0;
}
