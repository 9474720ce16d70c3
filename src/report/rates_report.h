// SPDX-License-Identifier: Apache-2.0
// Functions with their share at each sampling rate: what goes in step with one of them is flagged.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_rates_report(ProfileSources sources, const ReportOptions& options);

}  // namespace fathom
