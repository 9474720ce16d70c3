// SPDX-License-Identifier: Apache-2.0
#include "record/varint.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace fathom {
namespace {

std::vector<uint64_t> edges() {
  std::vector<uint64_t> values = {0};
  for (int bit = 0; bit < 64; ++bit) {
    for (const int step : {-1, 0, 1}) {
      values.push_back((uint64_t{1} << bit) + static_cast<uint64_t>(step));
    }
  }
  return values;
}

TEST(VarintTest, EveryLengthComesBack) {
  for (const uint64_t value : edges()) {
    char bytes[kMaxVarintBytes];
    const char* end = put_varint(bytes, value);
    uint64_t read = ~value;
    EXPECT_EQ(get_varint(bytes, end, &read), end);
    EXPECT_EQ(read, value);
    // Cut anywhere it is none.
    for (const char* cut = bytes; cut < end; ++cut) {
      EXPECT_EQ(get_varint(bytes, cut, &read), nullptr);
    }
  }
}

TEST(VarintTest, ElevenBytesAreNone) {
  const std::string bytes = std::string(10, '\x80') + '\x01';
  uint64_t value = 0;
  EXPECT_EQ(get_varint(bytes.data(), bytes.data() + bytes.size(), &value), nullptr);
}

TEST(VarintTest, ZigzagKeepsSmallNumbersSmall) {
  EXPECT_EQ(zigzag(0), 0U);
  EXPECT_EQ(zigzag(-1), 1U);
  EXPECT_EQ(zigzag(1), 2U);
  EXPECT_EQ(zigzag(std::numeric_limits<int64_t>::max()), ~uint64_t{0} - 1);
  EXPECT_EQ(zigzag(std::numeric_limits<int64_t>::min()), ~uint64_t{0});
  for (const uint64_t value : edges()) {
    EXPECT_EQ(zigzag(unzigzag(value)), value);
    EXPECT_EQ(unzigzag(zigzag(static_cast<int64_t>(value))), static_cast<int64_t>(value));
  }
}

}  // namespace
}  // namespace fathom
