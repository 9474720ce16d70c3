// SPDX-License-Identifier: Apache-2.0
// Protobuf's variable-length integers, for whole packed columns at a time. Any thread.
#pragma once

#include <cstdint>

namespace fathom {

constexpr int kMaxVarintBytes = 10;

constexpr uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

// Writes at `at`, which has room for kMaxVarintBytes; returns the end.
inline char* put_varint(char* at, uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<char>(value);
  return at;
}

// Reads one value; nullptr if it does not end before `end` or is longer than allowed.
inline const char* get_varint(const char* at, const char* end, uint64_t* value) {
  if (at < end && *at >= 0) {
    *value = static_cast<unsigned char>(*at);
    return at + 1;
  }
  uint64_t result = 0;
  for (int shift = 0; at < end && shift < 70; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    result |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) {
      *value = result;
      return at;
    }
  }
  return nullptr;
}

}  // namespace fathom
