// SPDX-License-Identifier: Apache-2.0
// Limits connections per address from which no request was admitted yet, so that silent peers
// cannot occupy all connections. Addresses of one IPv6 /64 network count as one. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace fathom {

class PeerLimit {
 public:
  using Address = std::array<unsigned char, 16>;  // IPv4 as mapped into IPv6

  // One connection; released at the end of this object.
  class Place {
   public:
    Place(PeerLimit& limit, const Address& peer) : limit_(limit), peer_(peer) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { limit_.leave(peer_); }

   private:
    PeerLimit& limit_;
    const Address peer_;
  };

  explicit PeerLimit(size_t max) : max_(max) {}
  // Null: this address has as many as it may have.
  std::unique_ptr<Place> enter(Address peer);

 private:
  void leave(const Address& peer);

  const size_t max_;
  std::mutex mutex_;
  std::map<Address, size_t> open_;
};

}  // namespace fathom
