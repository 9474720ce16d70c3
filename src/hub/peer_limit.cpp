// SPDX-License-Identifier: Apache-2.0
#include "hub/peer_limit.h"

#include <algorithm>

namespace fathom {
namespace {

constexpr PeerLimit::Address kMappedIpv4 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr size_t kMappedBytes = 12, kNetworkBytes = 8;

}  // namespace

std::unique_ptr<PeerLimit::Place> PeerLimit::enter(Address peer) {
  if (!std::equal(peer.begin(), peer.begin() + kMappedBytes, kMappedIpv4.begin()))
    std::fill(peer.begin() + kNetworkBytes, peer.end(), 0);
  const std::lock_guard lock(mutex_);
  size_t& open = open_[peer];
  if (open >= max_) return nullptr;
  ++open;
  return std::make_unique<Place>(*this, peer);
}

void PeerLimit::leave(const Address& peer) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(peer);
  if (found != open_.end() && --found->second == 0) open_.erase(found);
}

}  // namespace fathom
