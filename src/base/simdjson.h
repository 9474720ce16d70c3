// SPDX-License-Identifier: Apache-2.0
// simdjson, opened when it is first needed: the program starts as fast, and starts at all, without
// it. All that its header leaves to the library is one function, which stands in simdjson.cpp. Any
// thread.
#pragma once

#include "base/result.h"

namespace fathom {

// Before anything of <simdjson.h> is used. kUnsupported where the library is missing.
Status load_simdjson();

}  // namespace fathom
