// SPDX-License-Identifier: Apache-2.0
// Makes and starts a container. Its first process is fathom-hold (wire/hold.h), which waits until
// the probes have attached and then becomes what the image runs, or runs the steps asked for. What
// is counted is counted in a cgroup of ours above the engine's. The container is removed in every
// way this can end; `fathom doctor --clean` removes those of killed recorders.
#pragma once

#include "launch/launcher.h"

namespace fathom {

Result<std::unique_ptr<Target>> launch_container(const LaunchRequest& request);

}  // namespace fathom
