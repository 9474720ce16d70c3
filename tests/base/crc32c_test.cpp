// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace fathom {
namespace {

// RFC 3720, appendix B.4, and the check value of the catalogue of CRCs.
TEST(Crc32cTest, KnownValues) {
  std::string rising(32, '\0');
  for (size_t i = 0; i < rising.size(); ++i) rising[i] = static_cast<char>(i);
  const std::string falling(rising.rbegin(), rising.rend());
  for (const auto function : {crc32c, crc32c_portable}) {
    const auto crc = [&](std::string_view bytes) { return function(bytes, 0); };
    EXPECT_EQ(crc(""), 0U);
    EXPECT_EQ(crc("123456789"), 0xE3069283U);
    EXPECT_EQ(crc(std::string(32, '\0')), 0x8A9136AAU);
    EXPECT_EQ(crc(std::string(32, '\xff')), 0x62A8AB43U);
    EXPECT_EQ(crc(rising), 0x46DD794EU);
    EXPECT_EQ(crc(falling), 0x113FDB5CU);
  }
}

TEST(Crc32cTest, BothWaysAgreeOnAnyLengthPlaceAndCut) {
  std::mt19937_64 random(1);
  std::string bytes(300, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (size_t start = 0; start < 9; ++start) {
    for (size_t size = 0; size + start <= bytes.size(); size += 1 + start) {
      const std::string_view part = std::string_view(bytes).substr(start, size);
      const uint32_t whole = crc32c(part);
      EXPECT_EQ(whole, crc32c_portable(part));
      const size_t cut = size / 3;
      EXPECT_EQ(crc32c(part.substr(cut), crc32c(part.substr(0, cut))), whole);
    }
  }
}

}  // namespace
}  // namespace fathom
