// SPDX-License-Identifier: Apache-2.0
// Which privileges this process has, and which hint helps where one is missing. Root in a container
// often lacks capabilities: the advice to become root would not help there. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

// Of the effective set; CAP_SYS_ADMIN does not count as the others.
bool has_capability(unsigned number);

// For something that `otherwise` unlocks for all users and that root may do. `capability` without
// its prefix, such as "PERFMON"; empty: none would do.
std::string unlock_hint(std::string_view otherwise, std::string_view capability);

}  // namespace fathom
