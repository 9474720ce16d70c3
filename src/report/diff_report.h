// SPDX-License-Identifier: Apache-2.0
// What differs between two sets of runs: as a table, as a flame graph (red: more, blue: less, grey:
// no more than chance), as a page, as folded stacks with two counts, and as JSON.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_diff_report(ProfileSources sources, const ReportOptions& options);
Status write_diff_flamegraph(ProfileSources sources, const ReportOptions& options);
Status write_diff_icicle(ProfileSources sources, const ReportOptions& options);
Status write_diff_page(ProfileSources sources, const ReportOptions& options);
Status write_diff_folded(ProfileSources sources, const ReportOptions& options);
Status write_diff_json(ProfileSources sources, const ReportOptions& options);

}  // namespace fathom
