// SPDX-License-Identifier: Apache-2.0
// Puts an in-target library into a program that is about to start.
#pragma once

#include <string>

#include "launch/launcher.h"

namespace fathom {

// After those that are preloaded already.
void add_preload(LaunchRequest& request, const std::string& library);

// Tells what runs in the target how many seccomp filters the recorder has: a program under more is
// not recorded, as it may not do what a recording takes. In a container the number is not known.
void add_seccomp_filters(LaunchRequest& request);

}  // namespace fathom
