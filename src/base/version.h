// SPDX-License-Identifier: Apache-2.0
// The one place that says which version this is.
#pragma once

namespace fathom {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace fathom
