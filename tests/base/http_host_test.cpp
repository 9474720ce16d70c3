// SPDX-License-Identifier: Apache-2.0
#include "base/http_host.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(HttpHost, OnlyNamesOfThisMachineAreItsOwn) {
  for (const char* ours : {"", "localhost", "LocalHost:1", "127.0.0.1:10000", "127.1.2.3", "[::1]",
                           "[::1]:80", "own.name:10000", "OWN.name", "[fe80::1]:9"})
    EXPECT_TRUE(is_own_host(ours, {"Own.Name", "fe80::1"})) << ours;
  for (const char* other : {"evil", "localhost.evil", "127.0.0.1.evil:1", "127.evil", "[::2]:1",
                            "0.0.0.0:1", "[", "[::1", ":"})
    EXPECT_FALSE(is_own_host(other, {"Own.Name", "fe80::1", ""})) << other;
}

TEST(HttpHost, TokensAreComparedAsAWhole) {
  EXPECT_TRUE(carries_token("Bearer abc", "abc"));
  for (const char* wrong : {"", "abc", "Bearer ", "Bearer ab", "Bearer abd", "bearer abc"})
    EXPECT_FALSE(carries_token(wrong, "abc")) << wrong;
}

TEST(HttpHost, OpenMetricsIsSentToThoseWhoPreferIt) {
  EXPECT_TRUE(prefers_openmetrics("application/openmetrics-text"));
  EXPECT_TRUE(prefers_openmetrics(
      "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"));
  EXPECT_FALSE(prefers_openmetrics(
      "application/openmetrics-text;version=1.0.0;q=0.2, text/plain;version=0.0.4;q=0.5"));
  for (const char* plain :
       {"", "*/*", "text/plain", "text/html", "application/openmetrics-text;q=0"})
    EXPECT_FALSE(prefers_openmetrics(plain)) << plain;
}

}  // namespace
}  // namespace fathom
