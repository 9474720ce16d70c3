// SPDX-License-Identifier: Apache-2.0
#include "report/openmetrics_report.h"

#include "record/metrics_page.h"

namespace fathom {

Status write_openmetrics_report(const Recording& recording, const ReportOptions& options) {
  MetricsPage page;
  TRY(recording.read(tables_of<Run, Gauge>(), [&page](const Batch& batch) -> Status {
    page.take(batch.rows, batch.dictionary);
    return {};
  }));
  return print_to(options.out, page.text(MetricsPage::Times::kShown));
}

}  // namespace fathom
