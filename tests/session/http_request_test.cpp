// SPDX-License-Identifier: Apache-2.0
#include "session/http_request.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

std::string said(std::string_view bytes) {
  const auto request = parse_http_request(bytes);
  if (!request) return "more";
  if (request->refusal != 0) return std::to_string(request->refusal);
  return (request->head ? "HEAD " : "GET ") + request->path;
}

TEST(HttpRequest, ReadsWhatCollectorsSend) {
  EXPECT_EQ(said("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), "GET /metrics");
  EXPECT_EQ(said("GET /metrics?name=a HTTP/1.0\r\n\r\n"), "GET /metrics");
  EXPECT_EQ(said("HEAD / HTTP/1.1\r\n\r\nmore"), "HEAD /");
}

TEST(HttpRequest, WaitsForTheRest) {
  const std::string whole = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_EQ(said(whole.substr(0, length)), "more") << length;
}

TEST(HttpRequest, RefusesTheRest) {
  EXPECT_EQ(said("POST /metrics HTTP/1.1\r\n\r\n"), "405");
  EXPECT_EQ(said("GET /metrics HTTP/2\r\n\r\n"), "505");
  EXPECT_EQ(said("GET metrics HTTP/1.1\r\n\r\n"), "400");
  EXPECT_EQ(said("GET /a b HTTP/1.1\r\n\r\n"), "400");
  EXPECT_EQ(said("GET /metrics\r\n\r\n"), "400");
  EXPECT_EQ(said("GET\r\n\r\n"), "400");
  EXPECT_EQ(said("Get / HTTP/1.1\r\n\r\n"), "400");
  EXPECT_EQ(said("\x16\x03\x01"), "400") << "TLS";
  EXPECT_EQ(said("\r\n\r\n"), "400");
  EXPECT_EQ(said("GET /" + std::string(kMostRequestBytes, 'x')), "431");
}

TEST(HttpRequest, ReadsTheFieldsThatAreUsed) {
  const auto request = parse_http_request(
      "GET / HTTP/1.1\r\nhost:  a:1 \r\nACCEPT: x\r\nAuthorization: Bearer t\r\nAccept: y\r\n\r\n");
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->host, "a:1");
  EXPECT_EQ(request->accept, "x,y");
  EXPECT_EQ(request->authorization, "Bearer t");
  for (const char* wrong : {"Host: a\r\nhost: b", "Host: a\r\n b", "\tHost: a", "nonsense"})
    EXPECT_EQ(said(std::string("GET / HTTP/1.1\r\n") + wrong + "\r\n\r\n"), "400") << wrong;
}

TEST(HttpRequest, AnswersAreWhole) {
  const std::string answer = http_answer(200, "text/plain", "body", false);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"));
  EXPECT_NE(answer.find("\r\nContent-Length: 4\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("\r\nConnection: close\r\n\r\nbody"));
  EXPECT_TRUE(http_answer(200, "text/plain", "body", true).ends_with("\r\n\r\n"));
  EXPECT_NE(http_answer(405, "x", "", false).find("Allow: GET, HEAD"), std::string::npos);
}

}  // namespace
}  // namespace fathom
