// SPDX-License-Identifier: Apache-2.0
// A run over time: curves of what it used and of what the application told, its processes and its
// marks, all on one axis and of bounded size. Times are since the start of the run. Once built it
// does not change: any thread may read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/call_lanes.h"
#include "report/curve.h"
#include "report/process_lanes.h"
#include "report/summary.h"

namespace fathom {

struct Curve {
  std::string label;
  std::vector<CurvePoint> points;
};

// Curves that share an axis.
struct Panel {
  std::string title;
  std::string unit;  // "bytes/s", "cores", "%", "count", or what the application says
  std::vector<Curve> curves = {};
  std::optional<double> limit = {};  // there is no more of it
  std::string limit_label = {};
  bool from_application = false;
};

struct TimelineMark {
  int64_t time_ns = 0;
  std::string text;
};

struct Timeline {
  int64_t length_ns = 0;
  std::vector<Panel> panels;
  ProcessLanes lanes;
  CallLanes calls;
  std::vector<TimelineMark> marks;
  std::vector<std::string> notes;  // what is not drawn, and why
};

Result<Timeline> load_timeline(const Recording& recording, const Summary& summary);

}  // namespace fathom
