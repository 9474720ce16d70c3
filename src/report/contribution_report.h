// SPDX-License-Identifier: Apache-2.0
// What each configuration adds to the traces of all (contribution.h), as text.
#pragma once

#include "report/report.h"

namespace fathom {

// Sources of the same label are one configuration, else each is its own.
Status write_contribution_report(ProfileSources sources, const ReportOptions& options);

}  // namespace fathom
