// SPDX-License-Identifier: Apache-2.0
// The hub on the network: HTTP/1.1 on one port, on all cores. Every size and every wait is bounded.
// serve() owns the thread it is called on until a SIGTERM or SIGINT, then lets requests under way
// end.
#pragma once

#include <functional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "hub/hub.h"

namespace fathom {

// `listening` is a bound socket; `started` is called when connections are taken.
Status serve(Hub& hub, Fd listening, const std::function<void()>& started);

}  // namespace fathom
