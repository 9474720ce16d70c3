// SPDX-License-Identifier: Apache-2.0
// Starts a program through fathom-spawn (see spawner/main.c): own process group, own cgroup where
// one can be made, orphans reaped and counted, the terminal lent to it, the recorder's memory out
// of its figures.
#pragma once

#include "launch/launcher.h"

namespace fathom {

Result<std::unique_ptr<Target>> launch_process(const LaunchRequest& request);

}  // namespace fathom
