// SPDX-License-Identifier: Apache-2.0
// Finds what already runs instead of starting it: processes by id ("123,456"), a cgroup by folder,
// path or process (as Cgroup::find reads it), or the whole host. Nothing is signalled, moved or
// reaped; a recorder that ends leaves them as they are.
#pragma once

#include "launch/launcher.h"

namespace fathom {

Result<std::unique_ptr<Target>> attach_pid(const LaunchRequest& request);
Result<std::unique_ptr<Target>> attach_cgroup(const LaunchRequest& request);
// Containers of this machine's engine, by name or id: "web", or "web,db".
Result<std::unique_ptr<Target>> attach_container(const LaunchRequest& request);
Result<std::unique_ptr<Target>> attach_system(const LaunchRequest& request);

}  // namespace fathom
