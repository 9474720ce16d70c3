// SPDX-License-Identifier: Apache-2.0
// A range of IP addresses in CIDR notation. Plain value: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom {

class AddressRange {
 public:
  // "10.0.0.0/8", "::1/128", or an address alone.
  static Result<AddressRange> parse(const std::string& text);
  // An IPv4 address mapped into IPv6 counts as IPv4. False if `address` is malformed.
  [[nodiscard]] bool contains(const std::string& address) const;

 private:
  std::array<uint8_t, 16> bytes_{};  // IPv4 is mapped into IPv6
  unsigned prefix_bits_ = 0;         // of the 128
};

bool is_in_any(const std::vector<AddressRange>& ranges, const std::string& address);

// 127.0.0.0/8 and ::1.
std::vector<AddressRange> loopback_ranges();

}  // namespace fathom
