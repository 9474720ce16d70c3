// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), as iSCSI and ext4 use it: by the CPU's instruction where there is one. Any
// thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace fathom {

// Continue with the result of the bytes before as `seed`; 0 starts.
uint32_t crc32c(std::string_view bytes, uint32_t seed = 0);
uint32_t crc32c_portable(std::string_view bytes, uint32_t seed = 0);

}  // namespace fathom
