// SPDX-License-Identifier: Apache-2.0
// Responds 503 to a connection that exceeds a limit, and closes it when the peer has read that or
// kLingerNs have passed. Owns itself until then. Call from any thread.
#pragma once

#include <string_view>

#include "hub/network.h"

namespace fathom {

// At most kMaxRejected at a time; more are closed without a response.
void reject_connection(Network& network, Socket socket, std::string_view why);

}  // namespace fathom
