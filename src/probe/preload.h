// SPDX-License-Identifier: Apache-2.0
// Puts an in-target library into a program that is about to start.
#pragma once

#include <string>

#include "launch/launcher.h"

namespace fathom {

// After those that are preloaded already. Programs built with GCC's address sanitizer would refuse
// to start with anything before their runtime, so they are told to take it.
void add_preload(LaunchRequest& request, const std::string& library);

}  // namespace fathom
