// SPDX-License-Identifier: Apache-2.0
#include "hub/address_range.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace fathom {
namespace {

constexpr unsigned kMappedBits = 96;  // ::ffff:0:0/96 holds the IPv4 addresses

struct Address {
  std::array<uint8_t, 16> bytes{};
  bool is_v4 = false;
};

std::optional<Address> parse_address(const std::string& text) {
  Address address;
  if (inet_pton(AF_INET, text.c_str(), address.bytes.data() + 12) == 1) {
    address.bytes[10] = address.bytes[11] = 0xFF;
    address.is_v4 = true;
    return address;
  }
  if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) != 1) return std::nullopt;
  return address;
}

}  // namespace

Result<AddressRange> AddressRange::parse(const std::string& text) {
  const size_t slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  const Error wrong{Code::kInvalid, "invalid address range '" + printable(text) + "'",
                    "--legacy-clients 10.0.0.0/8"};
  if (!address) return wrong;
  const int64_t max_bits = address->is_v4 ? 32 : 128;
  int64_t bits = max_bits;
  if (slash != std::string::npos) {
    const auto given = parse_number(text.substr(slash + 1));
    if (!given.ok() || given.value() < 0 || given.value() > max_bits) return wrong;
    bits = given.value();
  }
  AddressRange range;
  range.bytes_ = address->bytes;
  range.prefix_bits_ = static_cast<unsigned>(bits) + (address->is_v4 ? kMappedBits : 0);
  return range;
}

bool AddressRange::contains(const std::string& address) const {
  const auto other = parse_address(address);
  if (!other) return false;
  for (unsigned bit = 0; bit < prefix_bits_; ++bit) {
    const unsigned mask = 0x80U >> (bit % 8);
    if (((bytes_[bit / 8] ^ other->bytes[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

bool is_in_any(const std::vector<AddressRange>& ranges, const std::string& address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const AddressRange& range) { return range.contains(address); });
}

std::vector<AddressRange> loopback_ranges() {
  std::vector<AddressRange> ranges;
  for (const char* text : {"127.0.0.0/8", "::1/128"}) {
    auto range = AddressRange::parse(text);
    CHECK(range.ok());
    ranges.push_back(range.value());
  }
  return ranges;
}

}  // namespace fathom
