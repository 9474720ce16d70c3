// SPDX-License-Identifier: Apache-2.0
// What `fathom run --image` is to run, from its flags. Any thread.
#pragma once

#include "cli/arguments.h"
#include "cli/run_target.h"

namespace fathom {

bool wants_container(const Arguments& arguments);
// An error names a flag that only a container can have.
Status check_no_container(const Arguments& arguments);
// Builds the image where that is asked for, which takes its time.
Result<RunTarget> container_target_from(const Arguments& arguments);

}  // namespace fathom
