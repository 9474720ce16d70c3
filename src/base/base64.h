// SPDX-License-Identifier: Apache-2.0
// Bytes as text (RFC 4648). Pure: any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace fathom {

std::string base64(std::span<const uint8_t> bytes);

}  // namespace fathom
