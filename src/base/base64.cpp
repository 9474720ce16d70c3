// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <algorithm>
#include <string_view>

namespace fathom {

std::string base64(std::span<const uint8_t> bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  size_t at = 0;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) group = group << 8 | (j < have ? bytes[i + j] : 0U);
    for (size_t j = 0; j <= have; ++j) out[at + j] = kLetters[group >> (18 - 6 * j) & 63];
    at += 4;
  }
  return out;
}

}  // namespace fathom
