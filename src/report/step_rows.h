// SPDX-License-Identifier: Apache-2.0
// The steps of a run, for every format that shows them. Plain data: any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "record/recording.h"
#include "report/report_table.h"

namespace fathom {

struct StepRow {
  std::string name, title, command;  // title: with its repetition, where there are several
  Step figures;                      // its ids mean nothing here
};

// By start.
Result<std::vector<StepRow>> load_steps(const Recording& recording);
ReportTable steps_table(const std::vector<StepRow>& steps);
// False: an earlier step failed, or the run ended before.
bool is_reached(const Step& step);
// "exit 0", "signal 9", "time limit", "could not be executed", "not reached".
std::string step_ending(const Step& step);

}  // namespace fathom
