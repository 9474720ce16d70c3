// SPDX-License-Identifier: Apache-2.0
// Whom `fathom run` records: the command it starts, or what runs already. No state: any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/arguments.h"
#include "launch/launcher.h"

namespace fathom {

struct RunTarget {
  const LauncherInfo* launcher = nullptr;
  LaunchRequest request;
  std::string name;  // for the label and the folder
};

// kInvalid where the flags name nobody, or more than one.
Result<RunTarget> run_target_from(const Arguments& arguments);

// --env, checked.
Result<std::vector<std::string>> environment_from(const Arguments& arguments);

}  // namespace fathom
