// SPDX-License-Identifier: Apache-2.0
// Runs the services of a compose file as one target: a container each (container_target.h), below
// one cgroup of ours, with networks and volumes of the run's own. All are held until the probes
// have attached; then they are let go in the order of depends_on. When those that nobody depends on
// have ended, the others are stopped. Everything made is removed in every way this can end.
#pragma once

#include "launch/launcher.h"

namespace fathom {

Result<std::unique_ptr<Target>> launch_compose(const LaunchRequest& request);

}  // namespace fathom
