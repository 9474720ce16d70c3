// SPDX-License-Identifier: Apache-2.0
// Files of the kernel's tracefs, such as "events/sched/sched_switch/id". They are read where
// tracefs is mounted, otherwise through a mount that belongs to this process only and appears in no
// directory tree. Thread-safe.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom {

// kNotFound: no such file, in a tracefs that can be read. kPermission: this user may not read it.
// kUnsupported: tracefs is not mounted, and cannot be mounted privately.
Result<std::string> read_tracefs(const std::string& file, size_t max_bytes = size_t{1} << 20);

}  // namespace fathom
