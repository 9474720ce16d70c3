// SPDX-License-Identifier: Apache-2.0
#include "hub/peer_limit.h"

#include <gtest/gtest.h>

#include <vector>

namespace fathom {
namespace {

PeerLimit::Address ipv4(unsigned char last) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last};
}

PeerLimit::Address ipv6(unsigned char network, unsigned char host) {
  return {0x20, 1, 0xd, 0xb8, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, host};
}

TEST(PeerLimit, OneAddressTakesNoMoreThanItsShare) {
  PeerLimit limit(2);
  auto first = limit.enter(ipv4(1));
  const auto second = limit.enter(ipv4(1));
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(limit.enter(ipv4(1)));
  EXPECT_TRUE(limit.enter(ipv4(2)));
  first.reset();
  EXPECT_TRUE(limit.enter(ipv4(1)));
}

TEST(PeerLimit, AddressesOfOneIpv6NetworkAreOnePeer) {
  PeerLimit limit(2);
  const auto first = limit.enter(ipv6(1, 1)), second = limit.enter(ipv6(1, 2));
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(limit.enter(ipv6(1, 3)));
  EXPECT_TRUE(limit.enter(ipv6(2, 1)));
}

}  // namespace
}  // namespace fathom
