// SPDX-License-Identifier: Apache-2.0
// What every HTML report holds besides its figures. Constants: any thread.
#pragma once

#include <string_view>

namespace fathom {

extern const std::string_view kHtmlStyle;
// One script in parts of readable size, in this order; they share one scope.
extern const std::string_view kHtmlScriptScales;    // data, units, axes
extern const std::string_view kHtmlScriptCurves;    // curves and the time axis
extern const std::string_view kHtmlScriptLanes;     // processes and marks
extern const std::string_view kHtmlScriptCalls;     // of the CUDA driver, and what ran on devices
extern const std::string_view kHtmlScriptPointing;  // crosshair, zoom, keys, printing

}  // namespace fathom
