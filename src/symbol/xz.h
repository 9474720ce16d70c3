// SPDX-License-Identifier: Apache-2.0
// Unpacks .xz data of a target: bounded in memory and output. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom {

// All streams in `packed`; kCorrupt when damaged, cut, or larger than `limit` unpacked.
Result<std::string> unpack_xz(std::string_view packed, size_t limit);

}  // namespace fathom
