// SPDX-License-Identifier: Apache-2.0
// Addresses of a host name, within a deadline: getaddrinfo() may wait for name servers for a
// minute. It runs on a thread of its own, which ends by itself where the result would arrive too
// late. Thread-safe.
#pragma once

#include <netdb.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace fathom {

using HostAddresses = std::shared_ptr<const addrinfo>;

// Gives up with kIo at `end_ns` of the monotonic clock, or soon after *stop became true; `stop` may
// be null.
Result<HostAddresses> look_up_host(const std::string& host, const std::string& port, int64_t end_ns,
                                   const std::atomic<bool>* stop);

}  // namespace fathom
