// SPDX-License-Identifier: Apache-2.0
// What each configuration adds to the traces of all (contribution.h). Shares of samples stand
// beside their 95 % intervals; distinct stacks are counted, not drawn, and have none.
#pragma once

#include "report/report.h"

namespace fathom {

// Sources of the same label are one configuration, else each is its own.
Status write_contribution_report(ProfileSources sources, const ReportOptions& options);
Status write_contribution_json(ProfileSources sources, const ReportOptions& options);
Status write_contribution_csv(ProfileSources sources, const ReportOptions& options);

}  // namespace fathom
