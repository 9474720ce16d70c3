// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "store/redis_store.h"
#include "store/sqlite_store.h"
#include "store/store.h"

namespace fathom {
namespace {

constexpr std::array kStores = {
    StoreInfo{"sqlite", "a file beside the hub, no server needed", open_sqlite_store},
    StoreInfo{"redis", "a Redis server, which several hubs may share", open_redis_store},
};

}  // namespace

std::span<const StoreInfo> all_stores() { return kStores; }

}  // namespace fathom
