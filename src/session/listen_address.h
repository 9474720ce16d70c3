// SPDX-License-Identifier: Apache-2.0
// Where a page is served: "9464", ":9464", "HOST:9464" or "[::1]:9464"; port 0 is any free one.
// Without a host it is this machine only. Any thread.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace fathom {

struct Listening {
  Fd socket;             // does not block
  std::string address;   // as it can be typed: 127.0.0.1:9464
  bool loopback = true;  // only this machine reaches it
};

// The address of this machine that a connected socket has, without its port; empty if it has none.
std::string local_address(int socket);

Result<Listening> listen_at(const std::string& address);

}  // namespace fathom
