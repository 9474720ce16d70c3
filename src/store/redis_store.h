// SPDX-License-Identifier: Apache-2.0
// The store in a Redis server, which several hubs may share (keys: docs/formats/hub.md). A change
// is one Lua script, several are sent in one go. A connection that broke is made anew by the next
// call.
#pragma once

#include "store/store.h"

namespace fathom {

// "redis://[user[:password]@]host[:port][/db]".
Result<std::unique_ptr<Store>> open_redis_store(const std::string& address);

}  // namespace fathom
