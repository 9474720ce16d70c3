// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <set>

#include "base/fd.h"
#include "base/http_host.h"
#include "base/simdjson.h"
#include "hub/guard.h"
#include "support/folders.h"

namespace fathom {
namespace {

TEST(Routes, AreThoseOfTheOpenApiFile) {
  ASSERT_TRUE(load_simdjson().ok());
  std::set<std::string> ours, described;
  for (const Route& route : all_routes()) ours.insert(std::string(route.method) + " " + route.path);
  simdjson::dom::parser parser;
  simdjson::dom::object paths;
  const std::string text = read_file(source_folder() + "/docs/formats/hub.openapi.json").value();
  ASSERT_TRUE(parser.parse(text)["paths"].get(paths) == simdjson::SUCCESS);
  for (const auto path : paths) {
    simdjson::dom::object operations;
    ASSERT_TRUE(path.value.get(operations) == simdjson::SUCCESS);
    for (const auto operation : operations) {
      std::string method(operation.key);
      for (char& byte : method) byte = static_cast<char>(byte - 'a' + 'A');
      described.insert(method + " " + std::string(path.key));
    }
  }
  EXPECT_EQ(ours, described);
}

TEST(Routes, MatchWholePathsOnly) {
  EXPECT_EQ(match_route("GET", "/api/v1/jobs/2001").parts, std::vector<std::string>{"2001"});
  EXPECT_EQ(match_route("GET", "/api/v1/jobs/2001/runs/a%20b").parts[1], "a b");
  EXPECT_EQ(match_route("HEAD", "/healthz").route, match_route("GET", "/healthz").route);
  for (const char* none : {"/api/v1/jobs/", "/api/v1/jobs/1/2/3", "/API/v1/jobs", "/healthz/x",
                           "//", "/api/v1/jobs/%zz"})
    EXPECT_EQ(match_route("GET", none).route, nullptr) << none;
  EXPECT_EQ(match_route("PUT", "/api/v1/jobs").allowed, "GET, POST");
}

TEST(Routes, TargetsAreReadOrRefused) {
  const auto target = parse_target("/a?x=1&y=a%20b+c&z");
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ(target->path, "/a");
  EXPECT_EQ(target->query.at("y"), "a b c");
  EXPECT_EQ(target->query.at("z"), "");
  for (const char* wrong : {"", "a", "http://x/", "/?x=%", "/?x=%4", "/?%zz=1"})
    EXPECT_FALSE(parse_target(wrong).has_value()) << wrong;
}

int status_for(const HubOptions& options, std::string_view host) {
  RequestHead head;
  head.method = "GET";
  head.target = "/api/v1/jobs";
  head.host = host;
  if (!options.token.empty()) head.authorization = "Bearer 0123456789abcdef";
  const auto admitted = admit(options, head);
  const auto* refusal = std::get_if<HttpReply>(&admitted);
  return refusal == nullptr ? 200 : refusal->status;
}

TEST(Guard, WithoutATokenOnlyNamesOfThisMachineAreAnswered) {
  HubOptions options;
  options.bind = "Own.Name";
  for (const char* ours : {"", "localhost", "LocalHost:1", "127.0.0.1:10000", "127.1.2.3", "[::1]",
                           "[::1]:80", "own.name:10000"})
    EXPECT_EQ(status_for(options, ours), 200) << ours;
  for (const char* other : {"evil", "localhost.evil", "127.0.0.1.evil:1", "127.evil", "[::2]:1",
                            "0.0.0.0:1", "[", "[::1", ":"})
    EXPECT_EQ(status_for(options, other), 403) << other;
  options.bind = "::1";
  EXPECT_EQ(status_for(options, "[::1]:1"), 200);
  options.token = "0123456789abcdef";
  EXPECT_EQ(status_for(options, "hub.example:1"), 200);
}

TEST(Guard, SecretsAreComparedWhole) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  for (const char* wrong : {"", "ab", "abd", "abcabc", "ABC"})
    EXPECT_FALSE(same_secret(wrong, "abc"));
  EXPECT_FALSE(same_secret("x", ""));
}

}  // namespace
}  // namespace fathom
