// SPDX-License-Identifier: Apache-2.0
// A run over time as one SVG picture: a panel each for CPU, memory, I/O, GPU and what the
// application told, with the steps as bands through all of them. No script, no network. Any thread.
#pragma once

#include "report/report.h"

namespace fathom {

constexpr const char* kPlotMark = "<!-- fathom plot -->";

Status write_plot_report(const Recording& recording, const ReportOptions& options);

}  // namespace fathom
