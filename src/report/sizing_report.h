// SPDX-License-Identifier: Apache-2.0
// What a program needs: figures, advice, snippets for Kubernetes and compose, whether nodes have
// enough. Any thread.
#pragma once

#include "report/report.h"

namespace fathom {

Status write_sizing_report(const Recording& recording, const ReportOptions& options);

}  // namespace fathom
