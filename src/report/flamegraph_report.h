// SPDX-License-Identifier: Apache-2.0
// Flame graph and icicle of one or more runs, as an SVG picture (flame_svg.h) and as a
// page to explore them (flame_page.h).
#pragma once

#include "report/flame_page.h"
#include "report/flame_svg.h"
#include "report/report.h"

namespace fathom {

Status write_flamegraph_report(ProfileSources sources, const ReportOptions& options);
// The same upside down: callers at the top.
Status write_icicle_report(ProfileSources sources, const ReportOptions& options);
// The same as pages (flame_page.h), and one that begins with the heat map.
Status write_flamegraph_page(ProfileSources sources, const ReportOptions& options);
Status write_icicle_page(ProfileSources sources, const ReportOptions& options);
Status write_heatmap_page(ProfileSources sources, const ReportOptions& options);

}  // namespace fathom
