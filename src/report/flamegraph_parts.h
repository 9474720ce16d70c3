// SPDX-License-Identifier: Apache-2.0
// The fixed parts of a flame graph in SVG: its style sheet and its script, as the file holds them.
// Neither holds "]]>". Constants: any thread.
#pragma once

#include <string_view>

namespace fathom {

extern const std::string_view kFlamegraphStyle;
extern const std::string_view kFlamegraphScript;

}  // namespace fathom
