// SPDX-License-Identifier: Apache-2.0
// How simulated events are told from counted ones by their names, in events and node_sums.
#pragma once

#include <string_view>

namespace fathom {

constexpr std::string_view kSimulatedSuffix = ":simulated";
// Behind that, in node_sums: what a function cost together with what it called. Such sums do not
// add up to the whole, as those of functions alone do.
constexpr std::string_view kWithCalleesSuffix = "+callees";

}  // namespace fathom
