// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), for pages that name by hash which script may run in them. Pure: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace fathom {

std::array<uint8_t, 32> sha256(std::string_view data);
// As Content-Security-Policy writes it: "sha256-" and base64.
std::string sha256_source(std::string_view data);

}  // namespace fathom
