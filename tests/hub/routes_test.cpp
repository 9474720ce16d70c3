// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <set>

#include "base/fd.h"
#include "base/simdjson.h"
#include "hub/guard.h"

namespace fathom {
namespace {

TEST(Routes, AreThoseOfTheOpenApiFile) {
  ASSERT_TRUE(load_simdjson().ok());
  std::set<std::string> ours, described;
  for (const Route& route : all_routes()) ours.insert(std::string(route.method) + " " + route.path);
  simdjson::dom::parser parser;
  simdjson::dom::object paths;
  const std::string text =
      read_file(std::string(FATHOM_TEST_DATA) + "/../../docs/formats/hub.openapi.json").value();
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

TEST(Guard, SecretsAreComparedWhole) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  for (const char* wrong : {"", "ab", "abd", "abcabc", "ABC"})
    EXPECT_FALSE(same_secret(wrong, "abc"));
  EXPECT_FALSE(same_secret("x", ""));
}

}  // namespace
}  // namespace fathom
