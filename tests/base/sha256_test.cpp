// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

// Known answers: printf … | openssl dgst -sha256 -binary | base64.
TEST(Sha256, GivesKnownAnswers) {
  EXPECT_EQ(sha256_source(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  EXPECT_EQ(sha256_source("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

TEST(Sha256, TakesTextsAroundTheEndOfABlock) {
  EXPECT_EQ(sha256_source(std::string(55, 'a')),
            "sha256-n0OQ+NMMLdkuyfCVtl4rmumwqSWlJY4kHJ8ekQ9zQxg=");
  EXPECT_EQ(sha256_source(std::string(56, 'a')),
            "sha256-s1Q5pKxvCUi21vnjxq8PX1kM4g8b3nCQ73lwaG7Gc4o=");
  EXPECT_EQ(sha256_source(std::string(64, 'a')),
            "sha256-/+BU/nrgy23GXDr5th1SCfQ5hR20PQulmXM33xVGaOs=");
  EXPECT_EQ(sha256_source(std::string(1000, 'a')),
            "sha256-Qe3s5C1j6Nm/UVqbppMuHCDLyfWl0TRkWttdsblzfqM=");
}

}  // namespace
}  // namespace fathom
