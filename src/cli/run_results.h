// SPDX-License-Identifier: Apache-2.0
// The formats that `fathom run --as` writes when the run has ended. Belongs to one thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/arguments.h"
#include "report/report.h"

namespace fathom {

class RunResults {
 public:
  // Checks what is asked for and makes the folder, so that nothing is found out when it is too
  // late.
  static Result<RunResults> from(const Arguments& arguments);

  [[nodiscard]] bool wanted() const { return !reports_.empty(); }
  // Every format that can be written is; the others are warned about. Returns whether all were. Of
  // the default formats, those that the recording has nothing for are not missed.
  bool write(const std::string& recording) const;

 private:
  std::vector<const ReportInfo*> reports_;
  std::string folder_;  // empty: texts go to stdout, files beside the recording
  bool quiet_ = false, defaults_ = false;
};

// The file of a format: "sizing.txt", "plot.svg", "output.json".
std::string result_file(const ReportInfo& report);

}  // namespace fathom
