// SPDX-License-Identifier: Apache-2.0
// What every page of a flame graph holds besides its figures. Constants: any thread.
#pragma once

#include <string_view>

namespace fathom {

extern const std::string_view kFlamePageStyle;
// One script in parts of readable size, in this order; they share one scope.
extern const std::string_view kFlamePageScriptData;   // the arrays, sums
extern const std::string_view kFlamePageScriptDraw;   // the picture
extern const std::string_view kFlamePageScriptTools;  // search, table, keys
extern const std::string_view kFlamePageScriptHeat;   // the heat map; the start

}  // namespace fathom
