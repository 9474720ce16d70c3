// SPDX-License-Identifier: Apache-2.0
// What recorders that no longer run left on this machine: containers, networks, volumes, cgroups
// and scratch directories. Not thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom {

struct Leftover {
  std::string name;     // a path, or "container NAME (ID)"
  std::string used_by;  // a running process that uses it, "sleep (pid 12)"; empty: none
  std::function<Status()> remove;
};

struct Leftovers {
  std::vector<Leftover> found;  // in the order in which they can be removed
  std::vector<Error> failed;    // what could not be listed
};

Leftovers find_leftovers();

// Removes the cgroups and scratch directories of killed recorders of this user that no process
// uses. Leaves what is younger than 10 s: it may belong to a recorder of another pid namespace that
// starts. Costs little where there are none, and never fails.
void remove_leftovers_of_killed_recorders();

}  // namespace fathom
