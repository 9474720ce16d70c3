// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

namespace fathom {

// No engine yet: nothing needs one before the hub does.
std::span<const StoreInfo> all_stores() { return {}; }

}  // namespace fathom
